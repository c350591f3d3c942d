"""The operator knows what it was told, and what its own writes were answered."""

from gpuyard import vocabulary
from gpuyard.writes import JSON, Reply, Write
from gpuyard_operator.memory import PATHS, Memory

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
    memory = Memory()
    for resource in PATHS:
        assert not memory.synced
        memory.replace(resource, [])
    assert memory.synced


def test_the_first_list_of_a_resource_is_news_for_every_group() -> None:
    memory = Memory()
    memory.observe("pods", "ADDED", pod())
    assert memory.replace("nodes", []) == {RING}
    assert memory.replace("nodes", []) == set()


def test_the_answer_to_a_write_is_known_at_once() -> None:
    memory = Memory()
    patch = Write("PATCH", "/api/v1/namespaces/default/pods/a", {})
    assert memory.learn(RING, patch, Reply(200, pod(at=5))) == {RING}
    assert memory.observe("pods", "MODIFIED", pod(at=4)) == set()
    assert memory.learn(RING, patch, Reply(500, {"message": "x"})) == set()


def test_what_the_server_does_not_know_is_forgotten() -> None:
    """G44: nothing is retried for ever."""
    memory = Memory()
    memory.observe("pods", "ADDED", pod())
    memory.observe("podgroups", "ADDED", named("PodGroup"))
    memory.observe("reservations", "ADDED", named("Reservation"))
    paths = [
        ("PATCH", "/api/v1/namespaces/default/pods/a/status"),
        ("PATCH", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/ring/status"),
        ("DELETE", "/apis/gpuyard.io/v1alpha1/namespaces/default/reservations/ring"),
    ]
    for method, path in paths:
        assert memory.knows(RING)
        assert memory.learn(RING, Write(method, path), Reply(404, {"kind": "Status"})) == {RING}
    assert not memory.knows(RING)


def test_a_collection_that_is_not_served_makes_nothing_forgotten() -> None:
    memory = Memory()
    memory.observe("pods", "ADDED", pod())
    post = Write("POST", "/apis/gpuyard.io/v1alpha1/namespaces/default/reservations", {})
    assert memory.learn(RING, post, Reply(404, {})) == set()


def test_a_list_of_the_pods_of_one_group_corrects_them() -> None:
    memory = Memory()
    memory.observe("pods", "ADDED", pod())
    assert memory.replace_pods(RING, [], as_of=9) == {RING}
    assert memory.pods(RING) == ()
