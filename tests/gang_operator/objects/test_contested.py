"""Pods that claim several groups: who is concerned, and whom they belong to."""

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_kube.store import Store
from gpuyard_operator.objects import pods
from gpuyard_operator.objects.contested import Contested

THREE = (vocabulary.POD_GROUP, "pod-group.scheduling.x-k8s.io", "pod-group.scheduling.sigs.k8s.io")


def pod(name: str, *claims: str, phase: str = "Pending", version: int = 1) -> JSON:
    labels = dict(zip(THREE, claims, strict=False))
    metadata = {"namespace": "blue", "name": name, "uid": name, "resourceVersion": str(version)}
    return {"metadata": {**metadata, "labels": labels}, "spec": {}, "status": {"phase": phase}}


def test_every_group_that_does_not_get_one_of_many_pods_is_concerned() -> None:
    contested, store = Contested(), Store(pods.read)
    listed = [pod("a", "ring", "tree", "star"), pod("b", "ring", "tree"), pod("c", "star"), pod("d")]
    assert contested.take(store.replace(listed)) == {("blue", "tree"), ("blue", "star")}
    assert contested.of(("blue", "tree")) == {"ring": 2}
    assert contested.of(("blue", "star")) == {"ring": 1}
    assert contested.of(("blue", "ring")) == contested.of(("red", "tree")) == {}


def test_only_what_is_new_concerns_anybody_and_in_the_end_nothing_is_left() -> None:
    contested, store = Contested(), Store(pods.read)
    contested.take(store.replace([pod("a", "ring", "tree"), pod("b", "ring", "tree")]))
    assert contested.take(store.observe("MODIFIED", pod("a", "ring", "tree", version=2))) == set()
    moved = pod("a", "star", "tree", version=3)
    assert contested.take(store.observe("MODIFIED", moved)) == {("blue", "tree")}
    assert contested.of(("blue", "tree")) == {"star": 1, "ring": 1}
    ended = pod("a", "star", "tree", phase="Failed", version=4)
    assert contested.take(store.observe("MODIFIED", ended)) == {("blue", "tree")}
    assert contested.take(store.replace([])) == {("blue", "tree")}
    assert contested.of(("blue", "tree")) == {}
