"""What kube-scheduler and the operator get to hear from the extender."""

from gpuyard import annotations, vocabulary
from gpuyard.groups.plans import Planned, PlanRequest, Unplaceable, Unready
from gpuyard.verdicts import Reason
from gpuyard_cluster.clock import Steps
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from tests.extender.builders import PodServer, Stage, device, gpu_node, gpu_pod, pod_group


def allocated(stage: Stage, name: str) -> list[str]:
    text = stage.server.pods[name]["metadata"]["annotations"][vocabulary.ALLOCATION]
    held = annotations.read_allocation(text)
    assert held is not None
    return list(held["train"][vocabulary.GPU])


def test_pack_prefers_the_fuller_node_and_binds_the_first_free_gpus_of_it() -> None:
    stage = Stage(gpu_node("node-1", 8), gpu_node("node-2", 8))
    old = gpu_pod("old", 4, node="node-2", plan=[device("node-2", i) for i in range(4)], phase="Running")
    new = gpu_pod("new", 2)
    stage.create(old, new)
    assert stage.filter(new)["NodeNames"] == ["node-1", "node-2"]
    assert stage.prioritize(new) == ["node-2", "node-1"]
    assert stage.bound(new, "node-2") == ""
    assert allocated(stage, "new") == [device("node-2", 4), device("node-2", 5)]


def test_spread_prefers_the_emptier_node() -> None:
    stage = Stage(gpu_node("node-1", 8), gpu_node("node-2", 8), policy="spread")
    stage.create(gpu_pod("old", 4, node="node-1", plan=[device("node-1", 0)], phase="Running"))
    assert stage.prioritize(gpu_pod("new")) == ["node-2", "node-1"]


def test_a_rejection_is_unresolvable_and_its_text_is_constant() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 0))
    answer = stage.filter(gpu_pod("big", 3))
    assert answer == {
        "Nodes": None,
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {
            "node-1": Reason.INSUFFICIENT_GPUS.text,
            "node-2": Reason.NO_SUCH_RESOURCE.text,
        },
        "Error": "",
    }


def test_whole_node_objects_come_back_where_they_were_sent() -> None:
    nodes = [gpu_node("node-1", 2), gpu_node("node-2", 1)]
    stage = Stage(*nodes)
    answer = stage.extender.filter({"Pod": gpu_pod("two", 2), "Nodes": {"items": nodes}, "NodeNames": None})
    assert answer["Nodes"]["items"] == nodes[:1]
    assert answer["NodeNames"] is None


def test_an_invalid_request_is_refused_everywhere() -> None:
    stage = Stage(gpu_node("node-1"))
    pod = gpu_pod("odd", resource="nvidia.com/mig-9g.1tb")
    assert stage.filter(pod)["FailedAndUnresolvableNodes"] == {"node-1": Reason.INVALID_REQUEST.text}


def test_the_node_ranked_first_is_taken_before_the_next_pod_is_filtered() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    first, second = gpu_pod("first"), gpu_pod("second")
    stage.create(first, second)
    stage.filter(first)
    assert stage.prioritize(first) == ["node-1", "node-2"]
    assert stage.filter(second)["NodeNames"] == ["node-2"]
    assert stage.filter(first)["NodeNames"] == ["node-1"]


def test_the_only_node_that_passes_filter_is_taken_and_given_back_when_no_bind_follows() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.filter(gpu_pod("first"))
    assert stage.filter(gpu_pod("second"))["NodeNames"] == []
    stage.wait(6)
    assert stage.filter(gpu_pod("second"))["NodeNames"] == ["node-1"]


def test_a_node_that_fills_up_between_filter_and_prioritize_is_ranked_last() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    stage.create(gpu_pod("thief", node="node-1", truth=[device("node-1", 0)], phase="Running"))
    assert stage.prioritize(gpu_pod("late")) == ["node-2", "node-1"]


def test_bind_refuses_what_filter_would_not_pass_now() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod = gpu_pod("late")
    stage.create(pod)
    stage.filter(pod)
    stage.create(gpu_pod("thief", node="node-1", truth=[device("node-1", 0)], phase="Running"))
    assert stage.bound(pod, "node-1") == Reason.INSUFFICIENT_GPUS.text
    assert stage.server.bindings == []


def test_nothing_is_answered_before_the_whole_cluster_has_been_seen() -> None:
    extender = Extender(PodServer(Steps()), Steps(), Settings())
    extender.replace("nodes", [gpu_node("node-1")])
    assert not extender.ready
    assert extender.filter({"Pod": gpu_pod("early"), "NodeNames": ["node-1"]})["Error"]
    assert isinstance(extender.plan(PlanRequest("default", "g", 1, ("uid-early",))), Unready)


def test_malformed_arguments_are_answered_with_the_field() -> None:
    stage = Stage()
    assert "Pod" in stage.extender.filter({"NodeNames": []})["Error"]
    assert "NodeNames" in stage.extender.filter({"Pod": gpu_pod("p"), "NodeNames": None})["Error"]
    assert stage.extender.filter([])["Error"]
    assert stage.extender.prioritize({"Pod": 7}) == []
    assert (
        "PodUID" in stage.clock.complete(stage.extender.bind({"PodNamespace": "a", "PodName": "b"}))["Error"]
    )


def test_a_node_without_inventory_passes_by_count_and_gets_no_plan() -> None:
    stage = Stage(gpu_node("node-1", 2, inventory=False))
    pod = gpu_pod("counted", 2)
    stage.create(pod)
    assert stage.filter(pod)["NodeNames"] == ["node-1"]
    assert stage.bound(pod, "node-1") == ""
    assert (
        "annotations" not in stage.server.pods["counted"]["metadata"]
        or not (stage.server.pods["counted"]["metadata"]["annotations"])
    )


def test_where_fake_gpus_are_asked_for_nothing_can_be_had_before_the_plugin_has_written_which() -> None:
    fake = gpu_node("node-1", 2, inventory=False)
    fake["metadata"]["labels"] = {vocabulary.FAKE_GPUS: "true"}
    stage = Stage(fake)
    pod = gpu_pod("early", 1)
    stage.create(pod)
    refused = stage.filter(pod)["FailedAndUnresolvableNodes"]
    assert refused == {"node-1": Reason.NO_SUCH_RESOURCE.text}
    assert stage.bound(pod, "node-1") != ""


def test_a_planned_gang_has_its_seats_and_nobody_else_gets_them() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    members = [gpu_pod(f"m{i}", group="g") for i in range(2)]
    stage.create(*members)
    assert set(stage.filter(members[0])["FailedAndUnresolvableNodes"].values()) == {
        Reason.RESERVATION_MISSING.text
    }
    request = PlanRequest("default", "g", 2, ("uid-m0", "uid-m1"))
    planned = stage.extender.plan(request)
    assert isinstance(planned, Planned)
    assert [seat.node for seat in planned.reservation.seats] == ["node-1", "node-2"]
    assert stage.filter(gpu_pod("other"))["NodeNames"] == []
    assert stage.filter(members[1])["NodeNames"] == ["node-2"]
    assert stage.extender.plan(request) == planned


def test_a_gang_that_does_not_fit_is_told_which_member_has_no_place() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.create(*(gpu_pod(f"m{i}", group="g") for i in range(2)))
    answer = stage.extender.plan(PlanRequest("default", "g", 2, ("uid-m0", "uid-m1")))
    assert isinstance(answer, Unplaceable)
    assert answer.member == "m1"
    assert [(found.node, found.reason) for found in answer.rejections] == [
        ("", Reason.INSUFFICIENT_GPUS),  # all nodes together have too few for all members
        ("node-1", Reason.INSUFFICIENT_GPUS),
    ]
    assert stage.filter(gpu_pod("other"))["NodeNames"] == ["node-1"]


def test_every_pending_pod_is_explained() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    stage.create(gpu_pod("big", 2), gpu_pod("m0", group="g"), gpu_pod("fits"))
    big = stage.extender.explain("default", "big")
    assert big == {
        "pod": "default/big",
        "phase": "Pending",
        "code": "InsufficientGPUs",
        "nodes": [{"node": "node-1", "reason": "InsufficientGPUs", "detail": "needs 2 GPUs, 1 free of 1"}],
    }
    assert stage.extender.explain("default", "fits")["code"] is None  # type: ignore[index]
    assert stage.extender.explain("default", "m0")["code"] == "GangWaiting"  # type: ignore[index]
    stage.create(gpu_pod("m1", group="g"))
    gang = stage.extender.explain("default", "m0")
    assert gang is not None
    assert (gang["code"], gang["group"]) == ("GangUnplaceable", "g")
    assert gang["nodes"][0]["reason"] == "InsufficientGPUs"
    assert stage.extender.explain("default", "nobody") is None


def test_a_line_that_is_told_names_a_few_nodes_and_counts_the_others() -> None:
    stage = Stage(*(gpu_node(f"n{i:02}") for i in range(10)))
    pod = gpu_pod("a")
    stage.filter(pod)
    stage.prioritize(pod)
    assert stage.told[:2] == [
        "Filter a: n00, n01, n02, n03, n04, n05, n06, n07 and 2 more passes",
        "Score a: n00 > n01 > n02 > n03 > n04 > n05 > n06 > n07 and 2 more",
    ]
