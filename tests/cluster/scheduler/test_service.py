from typing import Any

import pytest

from gpuyard_cluster.clock import Steps
from gpuyard_cluster.scheduler.pods import PROFILES
from gpuyard_cluster.scheduler.service import Scheduler
from tests.cluster.scheduler.world import GPU, World, nobody, rejecting
from tests.cluster.small_api import SmallApi, node, pod
from tests.stepping import settle


@pytest.fixture
def world() -> World:
    return World()


def test_a_pod_without_managed_resources_is_bound_without_the_extender(world: World) -> None:
    world.add(node("a"), pod("web", {"cpu": "1"}))
    assert world.node_of("web") == "a"
    assert world.extender.calls == []


def test_a_pod_with_a_managed_resource_is_bound_by_the_extender(world: World) -> None:
    world.add(node("a", nvidia_com__gpu=1), node("b"), pod("train", {GPU: "1"}))
    assert world.node_of("train") == "a"
    assert world.api.pod("train")["metadata"]["annotations"] == {"planned": "yes"}
    assert world.extender.verbs() == ["filter", "filtered", "bind"], "one node left: no prioritize"


def test_the_extender_decides_between_nodes_that_fit(world: World) -> None:
    world.extender.on_prioritize = lambda args: [{"Host": "b", "Score": 302}, {"Host": "a", "Score": 151}]
    world.add(node("a", nvidia_com__gpu=1), node("b", nvidia_com__gpu=1, cpu="2"), pod("train", {GPU: "1"}))
    assert world.node_of("train") == "b"


def test_pods_are_taken_by_priority_then_by_creation(world: World) -> None:
    world.api.put("nodes", node("a", pods="2"))
    for name, priority in (("first", 0), ("second", 0), ("urgent", 10)):
        world.api.put("pods", pod(name, priority=priority))
    settle(world.steps)
    assert [world.node_of(name) for name in ("urgent", "first", "second")] == ["a", "a", None]


def test_two_pods_never_get_the_same_room_while_a_binding_is_on_its_way(world: World) -> None:
    world.extender.bind_seconds = 2.0
    world.add(node("a", nvidia_com__gpu=1), pod("one", {GPU: "1"}), pod("two", {GPU: "1"}))
    text = f"0/1 nodes are available: 1 Insufficient {GPU}."
    assert world.reason("two") == (
        "Unschedulable",
        f"{text} {nobody(1, 'No preemption victims found for incoming pod')}",
    )
    world.later(2)
    assert (world.node_of("one"), world.node_of("two")) == ("a", None)


def test_a_pod_that_does_not_fit_says_why_once(world: World) -> None:
    world.add(node("a", nvidia_com__gpu=1), node("b"), node("c", cpu="100m"))
    world.add(pod("big", {GPU: "2", "cpu": "1"}))
    text = "0/3 nodes are available: 1 Insufficient cpu, 3 Insufficient nvidia.com/gpu."
    assert world.reason("big") == ("Unschedulable", f"{text} {nobody(3)}")
    assert [event["reason"] for event in world.api.events] == ["FailedScheduling"]
    writes = len(world.api.writes)
    world.add(node("d"))
    world.api.remove("nodes", "d")
    settle(world.steps)
    status_writes = [write for write in world.api.writes[writes:] if write.path.endswith("/status")]
    assert len(status_writes) == 2, "the text changed with the node and back, and not once more"


def test_without_nodes_the_condition_says_so(world: World) -> None:
    world.add(pod("early"))
    assert world.reason("early") == ("Unschedulable", "no nodes available to schedule pods")
    world.add(node("a"))
    assert world.node_of("early") == "a"


def test_a_rejection_is_tried_again_at_once_when_something_changes(world: World) -> None:
    world.extender.on_filter = rejecting
    world.add(node("a", nvidia_com__gpu=1), pod("train", {GPU: "1"}))
    assert world.filters() == 2, "once, and once because its own condition was written"
    assert world.reason("train")[1] == f"0/1 nodes are available: 1 InsufficientGPUs: not enough. {nobody(1)}"
    world.api.put("nodes", node("a", nvidia_com__gpu=1, labels={"new": "yes"}))
    settle(world.steps)
    assert world.filters() == 3
    world.add(pod("other", nodeName="a"))
    assert world.filters() == 4
    changed = world.api.pod("train")
    changed["metadata"]["labels"] = {"touched": "yes"}
    world.api.put("pods", changed)
    settle(world.steps)
    assert world.filters() == 5


def test_a_heartbeat_of_a_node_or_another_pending_pod_wakes_nobody(world: World) -> None:
    world.extender.on_filter = rejecting
    world.add(node("a", nvidia_com__gpu=1), pod("train", {GPU: "1"}))
    asked = world.filters()
    beating = node("a", nvidia_com__gpu=1)
    beating["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-01T00:00:00Z"
    world.add(beating, pod("gated", schedulingGates=[{"name": "x"}]))
    assert world.filters() == asked


def test_a_rejected_pod_is_looked_at_after_five_minutes_without_any_event(world: World) -> None:
    world.extender.on_filter = rejecting
    world.add(node("a", nvidia_com__gpu=1), pod("train", {GPU: "1"}))
    world.extender.on_filter = lambda args: {"NodeNames": args["NodeNames"]}
    world.later(299)
    assert world.node_of("train") is None
    world.later(1)
    assert world.node_of("train") == "a"


def test_errors_back_off_and_no_event_shortens_it(world: World) -> None:
    world.extender.on_filter = lambda args: {"Error": "cannot say"}
    begin = world.steps.now()
    world.add(node("a", nvidia_com__gpu=1), pod("train", {GPU: "1"}))
    assert world.reason("train") == ("SchedulerError", "cannot say")
    times = []
    for _ in range(300):
        before = world.filters()
        world.later(0.1)
        world.api.put("nodes", node("a", nvidia_com__gpu=1, labels={"at": str(world.steps.now())}))
        settle(world.steps)
        times += [round(world.steps.now() - begin)] * (world.filters() - before)
    assert times == [1, 3, 7, 15, 25]


def test_a_refused_binding_frees_the_room_and_is_tried_again(world: World) -> None:
    refused = iter(["taken", "unreachable", ""])
    world.extender.bind_error = lambda args: next(refused)
    world.add(node("a", nvidia_com__gpu=1), pod("train", {GPU: "1"}))
    assert world.reason("train") == ("SchedulerError", "taken")
    world.later(1)
    assert world.reason("train") == ("SchedulerError", "connection refused")
    world.later(2)
    assert world.node_of("train") == "a"


def test_an_extender_that_may_be_ignored_stops_nothing_when_it_fails(world: World) -> None:
    world.restart(ignorable=True)
    world.extender.on_filter = lambda args: {"Error": "cannot say"}
    world.extender.bind_error = lambda args: "unreachable"
    world.add(node("a", nvidia_com__gpu=1), pod("train", {GPU: "1"}))
    assert world.node_of("train") == "a"
    assert world.api.pod("train")["metadata"]["annotations"] == {}, "bound without it"
    world.extender.on_filter = rejecting
    world.add(node("a", nvidia_com__gpu=2), pod("refused", {GPU: "1"}))
    assert world.node_of("refused") is None, "a refusal is no failure"


def test_binding_cycles_run_beside_each_other_and_beside_filtering(world: World) -> None:
    world.extender.bind_seconds = 3.0
    world.add(node("a", nvidia_com__gpu=4), *(pod(f"member-{n}", {GPU: "1"}) for n in range(4)))
    assert world.extender.verbs().count("bind") == 4, "all held at one time"
    world.add(pod("web"))
    assert world.node_of("web") == "a", "a pod without GPUs is not held up"
    world.later(3)
    assert {world.node_of(f"member-{n}") for n in range(4)} == {"a"}


def test_filter_and_prioritize_of_two_pods_never_overlap(world: World) -> None:
    world.extender.filter_seconds = 1.0
    world.api.put("nodes", node("a", nvidia_com__gpu=4))
    world.api.put("nodes", node("b", nvidia_com__gpu=4))
    for number in range(3):
        world.api.put("pods", pod(f"member-{number}", {GPU: "1"}))
    world.later(5)
    assert [verb for verb in world.extender.verbs() if verb != "bind"] == [
        "filter",
        "filtered",
        "prioritize",
    ] * 3


def test_a_held_pod_that_is_deleted_frees_its_room_at_once(world: World) -> None:
    world.extender.bind_seconds = 3.0
    world.add(node("a", nvidia_com__gpu=1), pod("held", {GPU: "1"}), pod("next", {GPU: "1"}))
    world.api.remove("pods", "held", "default")
    settle(world.steps)
    world.later(4)
    assert world.node_of("next") == "a"


def test_a_gated_pod_is_left_alone_until_its_last_gate_is_gone(world: World) -> None:
    gated = pod("gated", schedulingGates=[{"name": "x"}])
    world.add(node("a"), gated)
    assert world.reason("gated") == ("", "")
    del gated["spec"]["schedulingGates"]
    world.add(gated)
    assert world.node_of("gated") == "a"


def test_a_nominated_gated_pod_keeps_room_from_equals_but_not_from_higher_priority(world: World) -> None:
    promised = pod("promised", {"cpu": "6"}, schedulingGates=[{"name": "x"}])
    promised["status"]["nominatedNodeName"] = "a"
    world.add(node("a", cpu="8"), promised, pod("equal", {"cpu": "4"}))
    assert world.node_of("equal") is None
    world.add(pod("higher", {"cpu": "4"}, priority=5))
    assert world.node_of("higher") == "a"


def test_an_ungated_pod_is_filtered_for_its_nominated_node_alone_first(world: World) -> None:
    promised = pod("promised", {GPU: "1"})
    promised["status"]["nominatedNodeName"] = "b"
    world.add(*(node(name, nvidia_com__gpu=1) for name in "abc"), promised)
    assert world.extender.calls[0][1]["NodeNames"] == ["b"]
    assert world.node_of("promised") == "b"


def test_a_nomination_ends_with_a_rejection(world: World) -> None:
    promised = pod("promised", {"cpu": "100"})
    promised["status"]["nominatedNodeName"] = "a"
    world.add(node("a"), promised)
    assert not world.api.pod("promised")["status"].get("nominatedNodeName")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_pod_of_any_profile_is_bound(world: World, profile: str) -> None:
    world.add(node("a"), pod("mine", {"cpu": "8"}, schedulerName=profile))
    assert world.node_of("mine") == "a"


def test_pods_of_another_scheduler_and_ended_pods_are_not_touched(world: World) -> None:
    ended = pod("ended", {"cpu": "8"}, nodeName="a")
    ended["status"]["phase"] = "Succeeded"
    world.add(node("a"), pod("foreign", schedulerName="other"), ended, pod("mine", {"cpu": "8"}))
    assert (world.node_of("foreign"), world.node_of("mine")) == (None, "a")


def test_a_scheduler_rebuilt_at_any_moment_goes_on_where_it_was(world: World) -> None:
    world.add(node("a", nvidia_com__gpu=1), pod("one", {GPU: "1"}), pod("two", {GPU: "1"}))
    world.restart()
    settle(world.steps)
    assert (world.node_of("one"), world.node_of("two")) == ("a", None)
    world.api.remove("pods", "one", "default")
    settle(world.steps)
    assert world.node_of("two") == "a"


def test_it_waits_for_everything_that_it_needs_before_it_says_anything() -> None:
    steps = Steps()
    api = SmallApi(steps)
    scheduler = Scheduler(api, steps, seed=1)
    scheduler.start()
    api.observers.append(scheduler)
    scheduler.replace("pods", [api.put("pods", pod("web"))])
    settle(steps)
    assert api.writes == []
    scheduler.replace("nodes", [api.put("nodes", node("a"))])
    settle(steps)
    assert api.writes == []
    scheduler.replace("poddisruptionbudgets", [])
    settle(steps)
    assert api.pod("web")["spec"]["nodeName"] == "a"


@pytest.mark.parametrize("failing", range(6))
def test_any_one_write_may_fail(world: World, failing: int) -> None:
    world.api.refuse = lambda write: 500 if len(world.api.writes) == failing + 1 else None
    world.add(node("a", nvidia_com__gpu=1), pod("one", {GPU: "1"}), pod("two", {GPU: "1"}), pod("web"))
    world.later(30)
    assert sorted(filter(None, (world.node_of("one"), world.node_of("two")))) == ["a"]
    assert world.node_of("web") == "a"
    waiting = "two" if world.node_of("one") else "one"
    assert world.reason(waiting)[0] == "Unschedulable"


def test_two_runs_with_one_seed_are_equal_and_ties_are_not_decided_by_order() -> None:
    def run(seed: int) -> list[Any]:
        world = World(seed=seed)
        world.add(*(node(name) for name in "abc"), *(pod(f"p{n}") for n in range(6)))
        return [world.node_of(f"p{n}") for n in range(6)]

    assert run(1) == run(1)
    assert len({tuple(run(seed)) for seed in range(5)}) > 1


def test_it_tells_what_it_decided(world: World) -> None:
    world.add(node("a"), pod("web"))
    assert [beat.text for beat in world.beats] == [
        "default/web: filter leaves 1, goes to a",
        "default/web: bound to a",
    ]
