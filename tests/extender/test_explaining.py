"""One code for the whole cluster, and why a gang waits."""

import pytest

from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_extender.explaining import closest
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group, reservation


def explained(stage: Stage, name: str) -> JSON:
    found = stage.extender.explain("default", name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (
            [Reason.NO_SUCH_RESOURCE, Reason.NO_SUCH_RESOURCE, Reason.SHARES_EXHAUSTED],
            Reason.SHARES_EXHAUSTED,
        ),
        ([Reason.TAINT_NOT_TOLERATED, Reason.INSUFFICIENT_GPUS], Reason.INSUFFICIENT_GPUS),
        ([Reason.NO_SUCH_RESOURCE, Reason.INSUFFICIENT_RESOURCES], Reason.INSUFFICIENT_RESOURCES),
        ([], Reason.NODE_NOT_READY),
    ],
)
def test_the_node_that_comes_closest_gives_the_code(codes: list[Reason], expected: Reason) -> None:
    assert closest([Rejection("n", code) for code in codes]) is expected


def test_every_code_that_a_node_can_give_has_its_place_in_the_order() -> None:
    not_of_nodes = {
        Reason.INVALID_REQUEST,
        Reason.GANG_WAITING,
        Reason.GANG_UNPLACEABLE,
        Reason.QUOTA_EXCEEDED,
        Reason.QUEUED_BEHIND,
        Reason.LEADER_UNAVAILABLE,
    }
    for code in set(Reason) - not_of_nodes:
        assert closest([Rejection("n", code)]) is code


def test_the_shares_of_a_gpu_can_be_exhausted() -> None:
    shared = "nvidia.com/gpu.shared"
    stage = Stage(gpu_node("node-1", 1, shares=1), gpu_node("node-2", 0))
    taken = f"{device('node-1', 0)}::0"
    stage.create(
        gpu_pod("first", resource=shared, node="node-1", plan=[taken], phase="Running"),
        gpu_pod("second", resource=shared),
    )
    assert explained(stage, "second")["code"] == "SharesExhausted"
    assert {found["node"]: found["reason"] for found in explained(stage, "second")["nodes"]} == {
        "node-1": "SharesExhausted",
        "node-2": "NoSuchResource",
    }


def test_a_pod_with_an_invalid_request_is_told_the_field() -> None:
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("odd", resource="nvidia.com/mig-9g.1tb"))
    assert explained(stage, "odd")["code"] == "InvalidRequest"
    assert "container train" in explained(stage, "odd")["detail"]


def test_a_running_pod_has_nothing_to_explain() -> None:
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("done", node="node-1", phase="Running"))
    assert explained(stage, "done") == {
        "pod": "default/done",
        "phase": "Running",
        "code": None,
        "nodes": [],
    }


def test_a_gang_that_would_fit_waits_for_its_reservation() -> None:
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    assert explained(stage, "m0")["detail"] == "there is no PodGroup g"
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    assert explained(stage, "m0")["code"] == "ReservationMissing"


def test_a_member_with_a_seat_is_explained_node_by_node() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    stage.create(gpu_pod("m0", group="g"))
    seats = {"m0": ("node-1", [device("node-1", 0)])}
    seated = reservation("g", seats, expires=stage.clock.now() + 60, needed=1)
    stage.extender.observe("reservations", "ADDED", seated)
    waiting = explained(stage, "m0")
    assert waiting["code"] == "GangWaiting"
    assert waiting["detail"] == "has a seat on node-1; waits until 1 members can be bound together"
    thief = gpu_pod("thief", node="node-1", truth=[device("node-1", 0)], phase="Running")
    stage.create(thief)
    found = explained(stage, "m0")
    assert found["code"] == "InsufficientGPUs"
    assert [node["reason"] for node in found["nodes"]] == ["InsufficientGPUs", "ReservationMissing"]


def test_a_member_whose_node_has_gone_is_told_so() -> None:
    stage = Stage(gpu_node("node-2", 1))
    stage.create(gpu_pod("m0", group="g"))
    seats = {"m0": ("node-1", [device("node-1", 0)])}
    seated = reservation("g", seats, expires=stage.clock.now() + 60, needed=1)
    stage.extender.observe("reservations", "ADDED", seated)
    assert explained(stage, "m0")["code"] == "NodeNotReady"


def test_a_wish_that_cannot_be_understood_is_refused_everywhere_and_named() -> None:
    stage = Stage(gpu_node("n1"), gpu_node("n2", inventory=False))
    pod = gpu_pod("odd")
    pod["metadata"]["annotations"] = {"gpuyard.io/topology": "same-rack"}
    stage.create(pod)
    texts = stage.filter(pod)["FailedAndUnresolvableNodes"]
    assert texts == dict.fromkeys(["n1", "n2"], Reason.INVALID_REQUEST.text)
    found = explained(stage, "odd")
    assert found["code"] == Reason.INVALID_REQUEST
    assert found["detail"].startswith("gpuyard.io/topology: 'same-rack' is unknown; use same-numa")
