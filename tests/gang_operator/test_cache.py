"""The operator knows what it was told, and what its own writes were answered."""

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON, Reply, Write
from gpuyard_operator.cache import PATHS, Cache

RING = ("default", "ring")


def pod(at: int = 1, uid: str = "u") -> JSON:
    labels = {vocabulary.POD_GROUP: "ring"}
    metadata = {"name": "a", "namespace": "default", "uid": uid, "resourceVersion": str(at), "labels": labels}
    return {"kind": "Pod", "metadata": metadata}


def named(kind: str) -> JSON:
    return {
        "kind": kind,
        "metadata": {"name": "ring", "namespace": "default", "uid": kind, "resourceVersion": "1"},
    }


def test_nothing_is_concluded_before_every_resource_was_listed() -> None:
    cache = Cache()
    for resource in PATHS:
        assert not cache.synced
        cache.replace(resource, [])
    assert cache.synced


def test_the_first_list_of_a_resource_is_news_for_every_group() -> None:
    cache = Cache()
    cache.observe("pods", "ADDED", pod())
    assert cache.replace("nodes", []) == {RING}
    assert cache.replace("nodes", []) == set()


def test_the_answer_to_a_write_is_known_at_once() -> None:
    cache = Cache()
    patch = Write("PATCH", "/api/v1/namespaces/default/pods/a", {})
    assert cache.learn(RING, patch, Reply(200, pod(at=5))) == {RING}
    assert cache.observe("pods", "MODIFIED", pod(at=4)) == set()
    assert cache.learn(RING, patch, Reply(500, {"message": "x"})) == set()


def test_what_the_server_does_not_know_is_forgotten() -> None:
    """G44: nothing is retried for ever."""
    cache = Cache()
    cache.observe("pods", "ADDED", pod())
    cache.observe("podgroups", "ADDED", named("PodGroup"))
    cache.observe("reservations", "ADDED", named("Reservation"))
    paths = [
        ("PATCH", "/api/v1/namespaces/default/pods/a/status"),
        ("PATCH", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/ring/status"),
        ("DELETE", "/apis/gpuyard.io/v1alpha1/namespaces/default/reservations/ring"),
    ]
    for method, path in paths:
        assert cache.knows(RING)
        assert cache.learn(RING, Write(method, path), Reply(404, {"kind": "Status"})) == {RING}
    assert not cache.knows(RING)


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"uid": "old"}},
        {"preconditions": {"uid": "old"}},
        {"deleteOptions": {"preconditions": {"uid": "old"}}},
    ],
)
def test_a_pod_that_has_taken_the_place_of_the_one_that_was_meant_is_not_forgotten(body: JSON) -> None:
    cache = Cache()
    cache.observe("pods", "ADDED", pod(uid="new"))
    gone = Write("PATCH", "/api/v1/namespaces/default/pods/a", body)
    assert cache.learn(RING, gone, Reply(404, {"kind": "Status"})) == set()
    assert cache.knows(RING)


def test_a_pod_that_is_deleted_is_there_until_its_grace_period_has_passed() -> None:
    cache = Cache()
    cache.observe("pods", "ADDED", pod())
    ends = pod(at=2)
    ends["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    delete = Write("DELETE", "/api/v1/namespaces/default/pods/a", {"preconditions": {"uid": "u"}})
    for answer, there in ((ends, True), ({"kind": "Status", "metadata": {}}, False)):
        assert cache.learn(RING, delete, Reply(200, answer)) == {RING}
        assert cache.knows(RING) is there


def test_a_collection_that_is_not_served_makes_nothing_forgotten() -> None:
    cache = Cache()
    cache.observe("pods", "ADDED", pod())
    post = Write("POST", "/apis/gpuyard.io/v1alpha1/namespaces/default/reservations", {})
    assert cache.learn(RING, post, Reply(404, {})) == set()


def test_a_list_of_the_pods_of_one_group_corrects_them() -> None:
    cache = Cache()
    cache.observe("pods", "ADDED", pod())
    assert cache.replace_pods(RING, [], as_of=9) == {RING}
    assert cache.pods(RING) == ()
