"""Preemption as a whole: a scheduler, an API server in memory, an extender that answers what it is told to."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.pods.amounts import requests_of
from gpuyard.writes import JSON, Write
from tests.cluster.scheduler.world import GPU, World, budget, nobody, rejecting, taken
from tests.cluster.small_api import node, pod
from tests.stepping import settle

FULL = f"0/1 nodes are available: 1 Insufficient {GPU}."


@pytest.fixture
def world() -> World:
    return taken()


def answering(**victims: list[JSON]) -> Any:
    """What an extender says to preempt: node -> pods."""
    told = {
        name: {"Pods": [{"UID": each["metadata"]["uid"]} for each in pods]} for name, pods in victims.items()
    }
    return lambda args: {"NodeNameToMetaVictims": told}


def test_a_pod_of_higher_priority_takes_the_place_of_a_lower_one(world: World) -> None:
    uid = world.api.pod("low")["metadata"]["uid"]
    begin = len(world.api.writes)
    world.add(pod("high", {GPU: "1"}, priority=10))
    assert (world.pods(), world.node_of("high")) == (["high"], "a")
    assert world.extender.verbs() == ["preempt", "filter", "filtered", "bind"]
    (_, asked), (_, filtered), *_ = world.extender.calls
    assert asked["NodeNameToMetaVictims"] == {"a": {"Pods": [{"UID": uid}], "NumPDBViolations": 0}}
    assert asked["NodeNameToVictims"] is None
    assert filtered["NodeNames"] == ["a"], "the promised node alone"
    promised, targeted, deleted = [w for w in world.api.writes[begin:] if "/events" not in w.path][:3]
    assert _status(promised)["nominatedNodeName"] == "a"
    assert _status(promised)["conditions"][0]["message"] == FULL
    (condition,) = _status(targeted)["conditions"]
    assert condition["type"] == "DisruptionTarget"
    assert (condition["status"], condition["reason"]) == ("True", "PreemptionByScheduler")
    assert (deleted.method, deleted.body) == (
        "DELETE",
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}},
    )
    high = world.api.pod("high")["metadata"]["uid"]
    assert world.told("Preempted") == [f"low: Preempted by pod {high} on node a"]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"priority": 0}, nobody(1, "No preemption victims found for incoming pod")),
        ({"priority": -1}, nobody(1, "No preemption victims found for incoming pod")),
        (
            {"priority": 9, "preemptionPolicy": "Never"},
            "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
        ),
    ],
)
def test_a_pod_waits_that_is_not_of_higher_priority_or_shall_not_preempt(
    world: World, spec: dict[str, Any], why: str
) -> None:
    world.add(pod("waits", {GPU: "1"}, **spec))
    assert world.reason("waits") == ("Unschedulable", f"{FULL} {why}")
    assert (world.pods(), world.extender.calls) == (["low", "waits"], [])


@pytest.mark.parametrize(
    "node_spec", [{"unschedulable": True}, {"taints": [{"key": "x", "effect": "NoSchedule"}]}]
)
def test_nobody_goes_where_that_would_not_help(node_spec: dict[str, Any]) -> None:
    world = World()
    world.add(node("a", cpu="4"), node("small", cpu="1"))
    world.add(pod("low", {"cpu": "4"}), pod("tiny", {"cpu": "1"}))
    world.add({**node("a", cpu="4"), "spec": node_spec}, pod("high", {"cpu": "2"}, priority=1))
    assert world.pods() == ["high", "low", "tiny"]
    assert world.reason("high")[1].endswith(nobody(2))


def test_where_only_the_extender_refuses_it_is_not_asked_whom_to_remove() -> None:
    world = World()
    world.add(node("a", nvidia_com__gpu=2), pod("low", {GPU: "1"}))
    world.extender.on_filter = rejecting
    world.add(pod("high", {GPU: "1"}, priority=1))
    assert world.reason("high")[1].endswith(f"not enough. {nobody(1)}")
    world.extender.on_filter = lambda args: {"NodeNames": [], "FailedNodes": {"a": "not enough"}}
    world.add(pod("higher", {GPU: "1"}, priority=2))
    expected = 'not enough. preemption: expected at least one victim pod on node "a"'
    assert world.reason("higher")[1].endswith(expected)
    world.add(node("b", nvidia_com__gpu=1), pod("other", nodeName="b"))
    world.extender.on_filter = lambda args: {"FailedNodes": dict.fromkeys(args["NodeNames"], "not enough")}
    world.add(pod("highest", {GPU: "1"}, priority=3))
    each = [f'expected at least one victim pod on node "{name}"' for name in "ab"]
    assert world.reason("highest")[1].endswith(f"not enough. preemption: [{', '.join(each)}]")
    assert "preempt" not in world.extender.verbs()
    assert "low" in world.pods()


def test_of_two_nodes_only_the_one_that_is_full_in_tree_is_offered(world: World) -> None:
    world.extender.on_filter = rejecting
    world.add(node("b", nvidia_com__gpu=1))
    world.extender.on_preempt = lambda args: {"NodeNameToMetaVictims": {}}
    world.add(pod("high", {GPU: "1"}, priority=1))
    calls = [(verb, args) for verb, args in world.extender.calls if verb != "filtered"]
    assert [verb for verb, _ in calls[:2]] == ["filter", "preempt"]
    assert list(calls[1][1]["NodeNameToMetaVictims"]) == ["a"]
    expected = "no new claims to deallocate, preemption: no candidate node for preemption"
    assert world.reason("high")[1].endswith(expected)
    assert "low" in world.pods()


def test_the_extender_chooses_whom_and_where() -> None:
    world = World()
    for name in "abc":
        world.add(node(name, nvidia_com__gpu=2), *(pod(f"{name}{n}", {GPU: "1"}, priority=n) for n in (1, 2)))
        world.add({**node(name, nvidia_com__gpu=2), "spec": {"unschedulable": True}})
    world.add(*(node(name, nvidia_com__gpu=2) for name in "abc"))
    world.extender.on_preempt = answering(
        b=[world.api.pod("b2")], c=[world.api.pod("c1"), world.api.pod("c2")]
    )
    world.add(pod("high", {GPU: "1"}, priority=9))
    assert world.pods() == ["a1", "a2", "b1", "b2", "high"], "the first that it names counts as the highest"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"a": {"Pods": []}}, 'expected at least one victim pod on node "a"'),
        ({"x": {"Pods": []}}, 'nodeinfo not found for node name "x"'),
        (
            {"a": {"Pods": [{"UID": "who"}]}},
            "extender: http://gpuyard claims to preempt pod (UID: who) on node: a, "
            "but the pod is not found on that node",
        ),
        ({"a": {"Pods": [7]}}, 'extender "http://gpuyard": the answer to preempt cannot be decoded'),
    ],
)
def test_an_answer_that_cannot_be_used_removes_nobody_unless_it_may_be_ignored(
    world: World, answer: JSON, said: str
) -> None:
    world.extender.on_preempt = lambda args: {"NodeNameToMetaVictims": answer}
    world.add(pod("high", {GPU: "1"}, priority=1))
    assert world.reason("high") == ("Unschedulable", f"{FULL} preemption: {said}")
    assert "low" in world.pods()
    world.restart(ignorable=True)
    settle(world.steps)
    spared = said.startswith("expected")
    assert ("low" in world.pods()) is spared, "no victims is an answer: nobody goes there"


def test_an_extender_without_the_verb_is_not_asked(world: World) -> None:
    world.restart(preempt_verb="")
    world.add(pod("high", {GPU: "1"}, priority=1))
    assert (world.pods(), "preempt" in world.extender.verbs()) == (["high"], False)


def test_an_extender_that_does_not_know_the_cluster_is_sent_whole_pods(world: World) -> None:
    world.restart(node_cache_capable=False)
    uid = world.api.pod("low")["metadata"]["uid"]
    world.extender.on_preempt = answering(a=[world.api.pod("low")])
    world.add(pod("high", {GPU: "1"}, priority=1))
    asked = next(args for verb, args in world.extender.calls if verb == "preempt")
    assert asked["NodeNameToMetaVictims"] is None
    assert asked["NodeNameToVictims"]["a"]["Pods"][0]["metadata"]["uid"] == uid
    assert "low" not in world.pods()


def test_a_pod_whose_binding_is_on_its_way_can_be_a_victim() -> None:
    world = World()
    world.extender.bind_seconds = 3.0
    world.add(node("a", nvidia_com__gpu=1), pod("held", {GPU: "1"}))
    world.add(pod("high", {GPU: "1"}, priority=1))
    assert world.pods() == ["high"]
    world.later(4)
    assert world.node_of("high") == "a"


def test_a_disruption_budget_decides_between_nodes_and_is_violated_as_the_last_resort() -> None:
    world = World()
    world.add(budget("guard", 0, app="guarded"))
    for name, app in (("a", "guarded"), ("b", "free")):
        held = pod(name, {"cpu": "8"}, nodeName=name)
        held["metadata"]["labels"] = {"app": app}
        world.add(node(name), held)
    world.add(pod("high", {"cpu": "8"}, priority=1))
    assert world.pods() == ["a", "high"]
    world.add(pod("higher", {"cpu": "8"}, priority=2))
    assert world.pods() == ["a", "higher"], "a pod without labels that is more important goes first"
    world.api.remove("poddisruptionbudgets", "guard", "default")
    settle(world.steps)
    world.add(pod("highest", {"cpu": "8"}, priority=3))
    assert world.pods() == ["higher", "highest"]


@pytest.mark.parametrize("restarting", [False, True])
@pytest.mark.parametrize("failing", range(6))
def test_any_one_write_may_fail_and_the_scheduler_may_die_at_it(failing: int, restarting: bool) -> None:
    world = World()
    world.add(node("a", nvidia_com__gpu=2), pod("low", {GPU: "1"}), pod("lower", {GPU: "1"}, priority=-1))
    world.add(node("b", nvidia_com__gpu=2), pod("b-low", {GPU: "2"}, priority=1))
    seen = 0

    def refuse(write: Write) -> int | None:
        nonlocal seen
        seen += "/events" not in write.path
        if seen != failing + 1 or "/events" in write.path:
            return None
        if restarting:
            world.restart()
        return 500

    world.api.refuse = refuse
    world.add(pod("high", {GPU: "2"}, priority=10))
    world.later(30)
    assert world.node_of("high") == "a"
    assert world.pods() == ["b-low", "high"]


SHAPES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.booleans()), min_size=3, max_size=9)


@settings(deadline=None, max_examples=40)
@given(SHAPES, st.integers(0, 99))
def test_in_the_end_nobody_waits_whose_place_a_lower_pod_has(
    shapes: list[tuple[int, int, bool]], seed: int
) -> None:
    world = World(seed=seed)
    world.add(node("a", cpu="4"), node("b", cpu="4"))
    made = [
        pod(f"p{n}", {"cpu": str(cpu)}, priority=priority, preemptionPolicy="Never" if never else None)
        for n, (cpu, priority, never) in enumerate(shapes)
    ]
    for each in made:
        world.add(each)
    left = [
        each for kind, each in ((key[0], obj) for key, obj in world.api.objects.items()) if kind == "pods"
    ]
    for name in "ab":
        held = [each for each in left if each["spec"].get("nodeName") == name]
        assert sum(map(_cpu, held)) <= 4000
        for waiting in (each for each in left if not each["spec"].get("nodeName")):
            never = waiting["spec"]["preemptionPolicy"] == "Never"
            kept = [e for e in held if never or e["spec"]["priority"] >= waiting["spec"]["priority"]]
            assert sum(map(_cpu, kept)) + _cpu(waiting) > 4000
    lost = {each["metadata"]["name"] for each in made} - {each["metadata"]["name"] for each in left}
    assert {text.split(":")[0] for text in world.told("Preempted")} == lost


def _cpu(obj: JSON) -> int:
    return requests_of(obj)["cpu"]


def _status(write: Write) -> Any:
    assert isinstance(write.body, dict)
    return write.body["status"]
