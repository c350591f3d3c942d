"""Only what may have made room is a change."""

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_operator.cache import Cache


def pod(phase: str = "Running", node: str = "node-1", uid: str = "u") -> JSON:
    return {"metadata": {"name": uid, "uid": uid}, "spec": {"nodeName": node}, "status": {"phase": phase}}


def node(gpus: str = "8", beat: int = 0, **metadata: JSON) -> JSON:
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-01-01T00:00:{beat:02}Z"}
    return {
        "metadata": {"name": "node-1", "uid": "n", **metadata},
        "spec": {},
        "status": {"allocatable": {vocabulary.GPU: gpus}, "conditions": [condition]},
    }


def moved(cache: Cache, resource: str, event: str, obj: JSON) -> bool:
    before = cache.openings.count
    cache.observe(resource, event, obj)
    return cache.openings.count != before


def test_a_node_that_appears_or_offers_something_else_is_a_change_and_a_heartbeat_is_none() -> None:
    cache = Cache()
    assert moved(cache, "nodes", "ADDED", node())
    assert not moved(cache, "nodes", "MODIFIED", node(beat=10))
    assert moved(cache, "nodes", "MODIFIED", node(gpus="7"))
    assert moved(cache, "nodes", "MODIFIED", node(gpus="7", annotations={vocabulary.INVENTORY: "x"}))
    assert not moved(cache, "nodes", "DELETED", node())


def test_a_pod_that_leaves_its_node_is_a_change_once() -> None:
    cache = Cache()
    assert not moved(cache, "pods", "ADDED", pod())
    assert moved(cache, "pods", "MODIFIED", pod("Succeeded"))
    assert not moved(cache, "pods", "MODIFIED", pod("Succeeded"))
    assert not moved(cache, "pods", "DELETED", pod("Succeeded"))


def test_a_pod_that_never_had_a_node_frees_nothing() -> None:
    cache = Cache()
    assert not moved(cache, "pods", "ADDED", pod(node=""))
    assert not moved(cache, "pods", "DELETED", pod(node=""))


def test_a_pod_that_is_missing_from_a_list_has_left() -> None:
    cache = Cache()
    cache.observe("pods", "ADDED", pod())
    before = cache.openings.count
    cache.replace("pods", [pod(uid="other")])
    assert cache.openings.count == before + 1


@pytest.mark.parametrize(
    ("node", "opens"), [("node-1", False), ("", True), ("node-2", True)], ids=["taken", "not taken", "left"]
)
def test_places_that_are_given_up_are_a_change_unless_their_members_took_them(node: str, opens: bool) -> None:
    cache, expires = Cache(), "2026-01-01T00:00:00.000000Z"
    seat = {"uid": "u", "pod": "u", "node": "node-1", "containers": {}}
    spec = {"podGroup": "ring", "needed": 1, "expires": expires, "seats": [seat]}
    found = {"metadata": {"namespace": "default", "name": "ring"}, "spec": spec}
    cache.observe("pods", "ADDED", pod(node=node))
    assert not moved(cache, "reservations", "ADDED", found)
    assert moved(cache, "reservations", "DELETED", found) == opens


def test_a_reservation_that_cannot_be_read_may_have_held_anything() -> None:
    cache = Cache()
    assert not moved(cache, "reservations", "ADDED", {"metadata": {"name": "ring"}})
    assert moved(cache, "reservations", "DELETED", {"metadata": {"name": "ring"}})
