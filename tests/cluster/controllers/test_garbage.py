from typing import Any

from gpuyard_cluster.controllers.garbage import decide, unknown_owners
from gpuyard_cluster.controllers.graph import FOREGROUND, ORPHAN, Graph, Item

NONE: frozenset[str] = frozenset()


def item(uid: str, *owners: str, blocking: bool = True, **metadata: Any) -> Item:
    references = [
        {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner, "blockOwnerDeletion": blocking}
        for owner in owners
    ]
    named = {"uid": uid, "name": uid, "resourceVersion": "5", "ownerReferences": references}
    return Item.of("pods", {"metadata": {**named, **metadata}})


def graph(*items: Item) -> Graph:
    found = Graph()
    for each in items:
        found.put(each)
    return found


def decided(about: Item, *others: Item, absent: frozenset[str] = NONE) -> list[tuple[str, str, Any]]:
    writes = decide(about, graph(about, *others), absent)
    return [(target.uid, write.method, write.body) for target, write in writes]


def leaving(uid: str, finalizer: str, *owners: str) -> Item:
    return item(uid, *owners, deletionTimestamp="now", finalizers=["x.y/own", finalizer])


def deletion(policy: str, uid: str = "b") -> dict[str, Any]:
    options = {"propagationPolicy": policy, "preconditions": {"uid": uid}}
    return {"kind": "DeleteOptions", "apiVersion": "v1", **options}


def patch(uid: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {**metadata, "uid": uid, "resourceVersion": "5"}}


def test_owners_that_are_not_known_must_be_asked_for() -> None:
    known = graph(item("a"), item("b", "a", "c"))
    assert [owner.uid for owner in unknown_owners(item("b", "a", "c"), known)] == ["c"]
    assert unknown_owners(item("b", "c", deletionTimestamp="now"), known) == []


def test_without_owners_left_an_object_goes_in_the_way_it_was_meant_to() -> None:
    gone = frozenset({"a"})
    assert decided(item("b", "a"), absent=gone) == [("b", "DELETE", deletion("Background"))]
    orphaning = item("b", "a", finalizers=[ORPHAN])
    assert decided(orphaning, absent=gone) == [("b", "DELETE", deletion("Orphan"))]
    assert decided(item("b", "a", deletionTimestamp="now"), absent=gone) == []


def test_with_one_owner_left_only_the_references_to_the_others_go() -> None:
    ((uid, method, body),) = decided(item("b", "a", "c"), item("c"), absent=frozenset({"a"}))
    assert (uid, method) == ("b", "PATCH")
    assert [reference["uid"] for reference in body["metadata"]["ownerReferences"]] == ["c"]
    assert body["metadata"]["resourceVersion"] == "5", "a late patch must fail"


def test_an_owner_that_waits_takes_its_dependents_with_it() -> None:
    owner = leaving("a", FOREGROUND)
    assert decided(item("b", "a"), owner) == [("b", "DELETE", deletion("Background"))]
    assert decided(item("b", "a"), owner, item("c", "b")) == [("b", "DELETE", deletion("Foreground"))]


def test_foreground_waits_for_blocking_dependents_only() -> None:
    owner = leaving("a", FOREGROUND)
    assert decided(owner, item("b", "a")) == []
    released = [("a", "PATCH", patch("a", finalizers=["x.y/own"]))]
    assert decided(owner, item("b", "a", blocking=False)) == released
    assert decided(owner) == released
