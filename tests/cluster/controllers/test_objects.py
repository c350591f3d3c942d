from gpuyard.writes import JSON
from gpuyard_cluster.controllers.objects import Objects


def obj(version: int, uid: str = "u1", owner: str = "", name: str = "a") -> JSON:
    references = [{"uid": owner, "controller": True, "kind": "K", "name": "o"}] if owner else []
    metadata = {"namespace": "n", "name": name, "uid": uid, "resourceVersion": str(version)}
    return {"metadata": {**metadata, "ownerReferences": references}}


def test_objects_are_found_by_owner_and_by_namespace() -> None:
    objects = Objects()
    objects.put("pods", obj(1, owner="o1"))
    objects.put("pods", obj(2, uid="u2", name="b"))
    assert [found["metadata"]["name"] for found in objects.owned("o1", "pods")] == ["a"]
    objects.put("pods", obj(3))
    assert objects.owned("o1", "pods") == ()
    assert len(list(objects.all("pods", "n"))) == len(objects.orphans("pods", "n")) == 2
    assert list(objects.all("pods", "other")) == []


def test_who_looks_for_what_it_may_claim_does_not_see_what_is_of_others() -> None:
    objects = Objects()
    for number, owner in enumerate(("", "o", "other")):
        made = obj(number + 1, uid=f"u{number}", owner=owner and "old", name=f"p{number}")
        made["metadata"]["ownerReferences"] = [
            {**one, "name": owner} for one in made["metadata"]["ownerReferences"]
        ]
        objects.put("pods", made)
    assert {found["metadata"]["name"] for found in objects.claimable("pods", "n", "K", "o")} == {"p0", "p1"}
