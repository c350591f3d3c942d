from typing import Any

from gpuyard_cluster.controllers.graph import Graph, Item


def item(uid: str, *owners: str, version: str = "1", **metadata: Any) -> Item:
    references = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner} for owner in owners]
    named = {"uid": uid, "name": uid, "resourceVersion": version, "ownerReferences": references}
    return Item.of("pods", {"metadata": {**named, **metadata}})


def test_a_change_concerns_the_object_and_its_owners_past_and_present() -> None:
    graph = Graph()
    assert graph.put(item("b", "a")) == ["b", "a"]
    assert graph.put(item("b", "a", version="2")) == [], "only the version changed"
    assert graph.put(item("b", "c")) == ["b", "a", "c"]
