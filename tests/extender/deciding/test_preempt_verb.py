"""The verb Preempt: what kube-scheduler is told of its own victims."""

from collections import Counter
from collections.abc import Iterable

import pytest

from gpuyard.pods.amounts import requests_of
from gpuyard.writes import JSON
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, metadata, pod_group


def running(name: str, node: str, *indexes: int, priority: int = 0, **more: object) -> JSON:
    ids = [device(node, index) for index in indexes]
    found = gpu_pod(name, len(ids), node=node, plan=ids, phase="Running", **more)  # type: ignore[arg-type]
    found["spec"]["priority"] = priority
    return found


def important(name: str = "vip", gpus: int = 1, priority: int = 100) -> JSON:
    found = gpu_pod(name, gpus)
    found["spec"]["priority"] = priority
    return found


def offered(stage: Stage, pod: JSON, *nodes: str, besides: Iterable[str] = ()) -> dict[str, list[str]]:
    """Node -> victims' UIDs, of kube-scheduler's form with UIDs alone, and the pods `besides` for its own reasons."""
    asked = {
        name: {
            "Pods": [{"UID": uid} for uid in (*counted(stage, pod, name), *besides)],
            "NumPDBViolations": 0,
        }
        for name in nodes or stage.nodes
    }
    answer = stage.extender.preempt({"Pod": pod, "NodeNameToVictims": None, "NodeNameToMetaVictims": asked})
    return victims(answer)


def victims(answer: JSON) -> dict[str, list[str]]:
    return {
        name: [victim["UID"] for victim in found["Pods"]]
        for name, found in answer["NodeNameToMetaVictims"].items()
    }


def counted(stage: Stage, pod: JSON, name: str) -> list[str]:
    """UIDs of those whom kube-scheduler would remove by what is booked: the less important ones who cannot stay."""
    ledger, wanted, priority = stage.extender.ledger, requests_of(pod), pod["spec"].get("priority", 0)
    node = ledger.node(name, stage.clock.now(), {pod["metadata"]["uid"], *ledger.holdings.yielding(priority)})
    below = [found for found in ledger.pods.all() if found.node == name and found.priority < priority]
    below.sort(key=lambda found: -found.priority)
    left = Counter(node.fit.allocatable if node else {})
    left.subtract(node.used if node else {})
    for found in below:
        left.update(found.fit.requests)
    gone = list[str]()
    for found in below:
        left.subtract(found.fit.requests)
        if any(left[resource] < amount for resource, amount in wanted.items()):
            left.update(found.fit.requests)
            gone.append(found.uid)
    return gone


def test_the_fewest_and_least_important_go_whatever_kube_scheduler_named() -> None:
    stage = Stage(gpu_node("n1", 3))
    stage.create(running("a", "n1", 0, priority=7), running("b", "n1", 1), running("c", "n1", 2, priority=3))
    assert offered(stage, important()) == {"n1": ["uid-b"]}


def test_a_node_where_nobody_can_or_need_go_is_left_out_and_never_without_victims() -> None:
    stage = Stage(gpu_node("full", 1), gpu_node("free", 1), gpu_node("small", 0), gpu_node("vips", 1))
    stage.create(running("a", "full", 0), running("b", "vips", 0, priority=100))
    assert offered(stage, important(), "full", "free", "small", "vips", "ghost") == {"full": ["uid-a"]}
    assert stage.told[-1] == "Preempt for vip: victims: 1 on full"


@pytest.mark.parametrize("nodes", [("n1", "n2", "n3"), ("n3", "n2", "n1")])
def test_of_several_nodes_the_one_that_loses_least_is_the_answer(nodes: tuple[str, ...]) -> None:
    stage = Stage(*(gpu_node(name, 1) for name in nodes))
    stage.extender.observe("podgroups", "ADDED", pod_group("ring", 2))
    stage.create(running("m0", "n1", 0, group="ring"), running("m1", "n4", 0, group="ring"))
    stage.create(running("a", "n2", 0), running("b", "n3", 0, priority=1))
    assert offered(stage, important(), *nodes) == {"n2": ["uid-a"]}
    assert offered(stage, important("other"), "n1", "n3") == {"n1": ["uid-m0"]}, (
        "what is important counts more"
    )


def test_both_forms_of_the_question_get_the_same_answer() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    args = {
        "Pod": important(),
        "NodeNameToVictims": {"n1": {"Pods": [running("a", "n1", 0)], "NumPDBViolations": 0}},
        "NodeNameToMetaVictims": None,
    }
    assert stage.extender.preempt(args) == {
        "NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "uid-a"}], "NumPDBViolations": 0}}
    }


def test_victims_are_found_where_kube_scheduler_sent_none() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    args = {"Pod": important(), "NodeNameToMetaVictims": {"n1": {"Pods": None, "NumPDBViolations": 0}}}
    assert stage.extender.preempt(args)["NodeNameToMetaVictims"]["n1"]["Pods"] == [{"UID": "uid-a"}]


def test_where_those_are_enough_who_go_already_nobody_else_has_to() -> None:
    stage = Stage(gpu_node("n1", 2), gpu_node("n2", 1))
    stage.create(running("going", "n1", 0, terminating=True), running("a", "n1", 1, priority=-1))
    stage.create(running("b", "n2", 0, priority=-1))
    assert offered(stage, important()) == {"n1": ["uid-going"]}
    assert offered(stage, important(gpus=2)) == {"n1": ["uid-a"]}


def test_who_goes_already_and_is_as_important_is_named_nowhere() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("going", "n1", 0, priority=100, terminating=True))
    assert offered(stage, important()) == {}


def test_of_those_who_go_already_as_few_are_named_as_will_do() -> None:
    stage = Stage(gpu_node("n1", 3))
    for number, priority in enumerate((3, 1, 2)):
        stage.create(running(f"p{number}", "n1", number, priority=priority, terminating=True))
    assert offered(stage, important()) == {"n1": ["uid-p1"]}


@pytest.mark.parametrize(
    ("selector", "covered"),
    [
        ({"matchLabels": {"app": "db"}}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "x"]}]}, True),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, False),
        (None, False),
    ],
)
def test_disruption_budgets_are_kept(selector: JSON | None, covered: bool) -> None:
    stage = Stage(gpu_node("n1", 2))
    guarded = running("guarded", "n1", 0)
    guarded["metadata"]["labels"] = {"app": "db"}
    budget = {"metadata": metadata("keep", None, "default"), "spec": {"selector": selector}, "status": {}}
    stage.extender.observe("poddisruptionbudgets", "ADDED", budget)
    elsewhere = running("other", "n1", 1, priority=5)
    elsewhere["metadata"]["namespace"] = "elsewhere"
    stage.create(guarded, elsewhere)
    assert offered(stage, important()) == {"n1": ["uid-other" if covered else "uid-guarded"]}


def test_a_gang_is_broken_last() -> None:
    stage = Stage(gpu_node("n1", 2), gpu_node("n2", 1))
    stage.extender.observe("podgroups", "ADDED", pod_group("ring", 2))
    stage.create(
        running("m0", "n1", 0, group="ring"), running("m1", "n2", 0, group="ring"), running("x", "n1", 1)
    )
    assert offered(stage, important(), "n1") == {"n1": ["uid-x"]}


def test_place_that_is_made_for_another_pod_is_not_taken_from_it() -> None:
    stage = Stage(gpu_node("n1", 2))
    first = important("first")
    first["status"]["nominatedNodeName"] = "n1"
    stage.create(running("a", "n1", 0), running("b", "n1", 1), first)
    assert len(offered(stage, important("second"))["n1"]) == 2, "one for the first, one for the second"
    assert offered(stage, important("vip", priority=1000)) == {"n1": ["uid-a"]}
