"""One code for the whole cluster, and why a gang waits."""

import pytest

from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group, reservation


def explained(stage: Stage, name: str) -> JSON:
    found = stage.extender.explain("default", name)
    assert found is not None
    return found


def test_the_shares_of_a_gpu_can_be_exhausted() -> None:
    shared = "nvidia.com/gpu.shared"
    stage = Stage(gpu_node("node-1", 1, shares=2), gpu_node("node-2", 0))
    taken = [f"{device('node-1', 0)}::{replica}" for replica in (0, 1)]
    stage.create(
        gpu_pod("first", 2, resource=shared, node="node-1", plan=taken, phase="Running"),
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
        "node": "node-1",
        "nodes": [],
    }


def test_a_gang_that_would_fit_waits_for_its_reservation() -> None:
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    assert explained(stage, "m0")["detail"] == "there is no PodGroup g"
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    assert explained(stage, "m0")["code"] == "ReservationMissing"


def test_a_leader_that_was_let_go_before_its_gang_is_explained_like_a_pod_alone() -> None:
    stage = Stage(gpu_node("node-1", cpu="4"))
    leader = gpu_pod("driver", 0, cpu="8", group="g")
    stage.create(leader)
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    assert explained(stage, "driver")["code"] == "InsufficientResources"
    gated = {**leader["spec"], "schedulingGates": [{"name": "gpuyard.io/gang"}]}
    stage.extender.observe("pods", "MODIFIED", {**gpu_pod("driver", 0, group="g"), "spec": gated})
    assert explained(stage, "driver")["code"] == "GangWaiting"


@pytest.mark.parametrize(
    ("reason", "code"), [("QuotaExceeded", "QuotaExceeded"), ("DeadlineExceeded", "GangEnded")]
)
def test_a_gang_that_waits_for_its_queue_or_is_over_is_told_what_the_operator_says(
    reason: str, code: str
) -> None:
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("m0", group="g"))
    said = {"type": "Scheduled", "status": "False", "reason": reason, "message": "these are the numbers"}
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 1) | {"status": {"conditions": [said]}})
    found = explained(stage, "m0")
    assert (found["code"], found["detail"]) == (code, "these are the numbers")


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


def test_the_nodes_that_would_take_a_waiting_pod_are_named_beside_the_others() -> None:
    stage = Stage(gpu_node("big", 4), gpu_node("small", 1))
    stage.create(gpu_pod("late", 2))
    found = explained(stage, "late")
    assert (found["code"], found["fits"]) == (None, ["big"])
    assert [verdict["node"] for verdict in found["nodes"]] == ["small"]


def of_group(stage: Stage) -> dict | None:  # type: ignore[type-arg]
    found = stage.extender.group_explanation("default", "g")
    return found() if found else None


def test_a_group_is_told_by_its_members_and_by_what_the_first_waiting_one_is_missing() -> None:
    stage = Stage(gpu_node("node-1", 1))
    assert of_group(stage) is None
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    empty = of_group(stage)
    assert empty is not None
    assert (empty["code"], empty["detail"]) == ("GangWaiting", "0 of 2 members are there")
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    found = of_group(stage)
    assert found is not None
    assert (found["code"], found["detail"]) == ("GangUnplaceable", "no node for member m1")
    assert [verdict["node"] for verdict in found["nodes"]] == ["node-1"]
    assert found["members"] == [{"pod": "m0", "phase": "Pending"}, {"pod": "m1", "phase": "Pending"}]


def test_a_member_says_where_its_place_is_kept_and_where_it_is() -> None:
    stage = Stage(gpu_node("node-1", 2))
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g", node="node-1", phase="Running"))
    seats = {"m0": ("node-1", [device("node-1", 0)])}
    seated = reservation("g", seats, expires=stage.clock.now() + 60, needed=2)
    stage.extender.observe("reservations", "ADDED", seated)
    found = of_group(stage)
    assert found is not None
    assert found["members"] == [
        {"pod": "m0", "phase": "Pending", "seat": "node-1"},
        {"pod": "m1", "phase": "Running", "node": "node-1"},
    ]
