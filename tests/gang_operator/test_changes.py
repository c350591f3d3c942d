"""Only what may have made room is a change."""

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_operator.changes import Changes


def pod(phase: str = "Running", node: str = "node-1", uid: str = "u") -> JSON:
    return {"metadata": {"name": uid, "uid": uid}, "spec": {"nodeName": node}, "status": {"phase": phase}}


def node(gpus: str = "8", beat: int = 0, **metadata: JSON) -> JSON:
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-01-01T00:00:{beat:02}Z"}
    return {
        "metadata": {"name": "node-1", "uid": "n", **metadata},
        "spec": {},
        "status": {"allocatable": {vocabulary.GPU: gpus}, "conditions": [condition]},
    }


def moved(changes: Changes, resource: str, event: str, obj: JSON) -> bool:
    before = changes.count
    changes.observe(resource, event, obj)
    return changes.count != before


def test_a_node_that_appears_or_offers_something_else_is_a_change_and_a_heartbeat_is_none() -> None:
    changes = Changes()
    assert moved(changes, "nodes", "ADDED", node())
    assert not moved(changes, "nodes", "MODIFIED", node(beat=10))
    assert moved(changes, "nodes", "MODIFIED", node(gpus="7"))
    assert moved(changes, "nodes", "MODIFIED", node(gpus="7", annotations={vocabulary.INVENTORY: "x"}))
    assert not moved(changes, "nodes", "DELETED", node())


def test_a_pod_that_leaves_its_node_is_a_change_once() -> None:
    changes = Changes()
    assert not moved(changes, "pods", "ADDED", pod())
    assert moved(changes, "pods", "MODIFIED", pod("Succeeded"))
    assert not moved(changes, "pods", "MODIFIED", pod("Succeeded"))
    assert not moved(changes, "pods", "DELETED", pod("Succeeded"))


def test_a_pod_that_never_had_a_node_frees_nothing() -> None:
    changes = Changes()
    assert not moved(changes, "pods", "ADDED", pod(node=""))
    assert not moved(changes, "pods", "DELETED", pod(node=""))


def test_a_pod_that_is_missing_from_a_list_has_left() -> None:
    changes = Changes()
    changes.observe("pods", "ADDED", pod())
    before = changes.count
    changes.replace("pods", [pod(uid="other")])
    assert changes.count == before + 1


def test_places_that_are_given_up_are_a_change() -> None:
    changes = Changes()
    assert not moved(changes, "reservations", "ADDED", {"metadata": {"name": "ring"}})
    assert moved(changes, "reservations", "DELETED", {"metadata": {"name": "ring"}})
