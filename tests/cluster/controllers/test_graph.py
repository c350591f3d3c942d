from typing import Any

from gpuyard_cluster.controllers.graph import FOREGROUND, Graph, Item


def item(uid: str, *owners: str, version: str = "1", **metadata: Any) -> Item:
    references = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner} for owner in owners]
    named = {"uid": uid, "name": uid, "resourceVersion": version, "ownerReferences": references}
    return Item.of("pods", {"metadata": {**named, **metadata}})


def test_dependents_are_found_by_their_owner() -> None:
    graph = Graph()
    graph.put(item("b", "a"))
    graph.put(item("c", "a", "b"))
    assert [found.uid for found in graph.dependents("a")] == ["b", "c"]
    graph.put(item("c", "b"))
    assert [found.uid for found in graph.dependents("a")] == ["b"]
    graph.drop("b")
    assert list(graph.dependents("a")) == []
    assert graph.uids("pods") == {"c"}


def test_a_change_concerns_the_object_and_its_owners_past_and_present() -> None:
    graph = Graph()
    assert graph.put(item("b", "a")) == ["b", "a"]
    assert graph.put(item("b", "a", version="2")) == [], "only the version changed"
    assert graph.put(item("b", "c")) == ["b", "a", "c"]


def test_the_end_of_an_owner_concerns_its_dependents() -> None:
    graph = Graph()
    graph.put(item("a"))
    graph.put(item("b", "a"))
    leaving = item("a", deletionTimestamp="now", finalizers=[FOREGROUND])
    assert leaving.holds(FOREGROUND)
    assert graph.put(leaving) == ["a", "b"]
    assert graph.drop("a") == ["b"]
    assert graph.get("a") is None
