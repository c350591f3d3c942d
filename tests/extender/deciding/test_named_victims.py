"""Victims that kube-scheduler names for reasons of its own stay in the answer, and the rest is built on them."""

from typing import Any

import pytest

from gpuyard.vocabulary import PREEMPTIBLE
from gpuyard.writes import JSON
from gpuyard_extender.wire import InvalidArgumentsError, preempt_question
from tests.extender.builders import Stage, gpu_node, metadata, pod_group
from tests.extender.deciding.test_preempt_verb import important, offered, running, victims

APART = {"matchLabels": {"app": "alone"}}


def with_port(pod: JSON, number: int = 8080) -> JSON:
    pod["spec"]["containers"][0]["ports"] = [{"hostPort": number, "containerPort": number, "protocol": "TCP"}]
    return pod


def alone(pod: JSON) -> JSON:
    term = {"labelSelector": APART, "topologyKey": "kubernetes.io/hostname"}
    pod["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod


def labelled(pod: JSON) -> JSON:
    pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), "app": "alone"}
    return pod


def spread(pod: JSON) -> JSON:
    found = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": APART,
    }
    pod["spec"]["topologySpreadConstraints"] = [found]
    return labelled(pod)


def with_volume(pod: JSON) -> JSON:
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "one"}}]
    return pod


def as_it_is(pod: JSON) -> JSON:
    return pod


def bystander(name: str, node: str = "n1", priority: int = 0, **more: Any) -> JSON:
    """A pod without GPUs."""
    return running(name, node, priority=priority, **more)


def given(stage: Stage, pod: JSON, **named: list[str]) -> dict[str, list[str]]:
    """The answer where kube-scheduler names just these."""
    asked = {node: {"Pods": [{"UID": uid} for uid in uids]} for node, uids in named.items()}
    return victims(stage.extender.preempt({"Pod": pod, "NodeNameToMetaVictims": asked}))


@pytest.mark.parametrize(
    ("wants", "has"),
    [
        (with_port, with_port),
        (alone, labelled),
        (labelled, alone),
        (spread, labelled),
        (with_volume, with_volume),
        (as_it_is, as_it_is),
    ],
    ids=["host port", "its anti-affinity", "the victim's", "spread", "volumes", "a reason nobody knows of"],
)
def test_who_is_in_the_way_of_more_than_gpus_goes_where_these_are_free_too(wants: Any, has: Any) -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(has(bystander("holder")), running("a", "n1", 0))
    assert offered(stage, wants(important()), besides=["uid-holder"]) == {"n1": ["uid-holder"]}


def test_beside_those_who_must_go_the_fewest_and_least_important_do() -> None:
    stage = Stage(gpu_node("n1", 3))
    stage.create(running("a", "n1", 0, priority=7), running("b", "n1", 1), running("c", "n1", 2, priority=3))
    stage.create(with_port(bystander("holder", priority=5)))
    vip = with_port(important())
    assert given(stage, vip, n1=["uid-a", "uid-holder"]) == {"n1": ["uid-holder", "uid-b"]}


def test_nobody_goes_beside_one_who_must_and_frees_enough() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(with_port(running("holder", "n1", 0, priority=7)), running("b", "n1", 1))
    assert given(stage, with_port(important()), n1=["uid-holder"]) == {"n1": ["uid-holder"]}


def test_who_was_named_only_for_amounts_that_others_free_stays() -> None:
    stage = Stage(gpu_node("n1", 2, cpu="4"))
    big = running("big", "n1", 0, priority=5, cpu="2")
    stage.create(with_port(big, 9090), running("small", "n1", 1, cpu="2"))
    assert given(stage, with_port(important()), n1=["uid-big"]) == {"n1": ["uid-small"]}


def test_whom_the_ledger_knows_to_be_gone_or_ended_is_not_named() -> None:
    stage = Stage(gpu_node("n1", 2))
    gone, ended = with_port(bystander("gone")), with_port(bystander("ended"))
    stage.create(gone, {**ended, "status": {"phase": "Succeeded"}})
    stage.delete(gone)
    assert given(stage, with_port(important()), n1=["uid-gone", "uid-ended"]) == {}


@pytest.mark.parametrize("whole", [False, True], ids=["by UID", "as objects"])
def test_whom_the_ledger_has_not_seen_yet_is_named_as_kube_scheduler_says(whole: bool) -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0, priority=5), running("b", "n2", 0, priority=50))
    new = with_port(bystander("new"))
    asked = {
        "n1": {"Pods": [new if whole else {"UID": "uid-new"}]},
        "n2": {"Pods": [running("b", "n2", 0, priority=50) if whole else {"UID": "uid-b"}]},
    }
    field = "NodeNameToVictims" if whole else "NodeNameToMetaVictims"
    answer = victims(stage.extender.preempt({"Pod": with_port(important()), field: asked}))
    # Of whom only the UID is known it is not known how important it is.
    assert answer == ({"n1": ["uid-a", "uid-new"]} if whole else {"n2": ["uid-b"]})


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("listed", ["x", 7, ["x"], [None], [{}], [{"UID": ""}], [{"metadata": {}}]])
def test_victims_without_uids_are_an_error_that_names_the_node(listed: Any, whole: bool) -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    field = "NodeNameToVictims" if whole else "NodeNameToMetaVictims"
    args = {"Pod": important(), field: {"n1": {"Pods": listed}}}
    assert victims(stage.extender.preempt(args)) == {}
    with pytest.raises(InvalidArgumentsError, match="^n1: Pods: a list of pods with UIDs is needed$"):
        preempt_question(args)


@pytest.mark.parametrize("why", ["as important", "makes way for nobody"])
def test_a_node_where_one_is_in_the_way_who_may_not_be_made_to_go_is_left_out(why: str) -> None:
    stage = Stage(gpu_node("n1", 2))
    holder = with_port(bystander("holder", priority=100 if why == "as important" else 0))
    if why != "as important":
        holder["metadata"]["annotations"] = {PREEMPTIBLE: "false"}
    stage.create(holder, running("a", "n1", 0))
    assert offered(stage, with_port(important(gpus=2)), besides=["uid-holder"]) == {}


def test_one_in_the_way_who_goes_already_costs_nothing_and_is_named_again() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(with_port(bystander("holder", terminating=True)), running("b", "n2", 0, priority=-5))
    vip = with_port(important())
    assert given(stage, vip, n1=["uid-holder"], n2=["uid-b"]) == {"n1": ["uid-holder"]}


def test_one_who_makes_way_for_nobody_and_ends_all_the_same_is_waited_for() -> None:
    stage = Stage(gpu_node("n1", 1))
    holder = with_port(bystander("holder", terminating=True))
    holder["metadata"]["annotations"] = {PREEMPTIBLE: "false"}
    stage.create(holder)
    assert offered(stage, with_port(important()), besides=["uid-holder"]) == {"n1": ["uid-holder"]}


def test_one_who_goes_for_two_is_named_to_both() -> None:
    """That the first does not want the second there either is for kube-scheduler to know."""
    stage = Stage(gpu_node("n1", 2))
    stage.create(alone(bystander("holder")))
    first, second = labelled(important("first")), labelled(important("second"))
    stage.create(first, second)
    for pod in (first, second):
        assert offered(stage, pod, besides=["uid-holder"]) == {"n1": ["uid-holder"]}


def test_budgets_and_gangs_are_counted_with_those_who_must_go() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1), gpu_node("n3", 1))
    budget = {"metadata": metadata("keep", None, "default"), "spec": {"selector": APART}, "status": {}}
    stage.extender.observe("poddisruptionbudgets", "ADDED", budget)
    stage.extender.observe("podgroups", "ADDED", pod_group("ring", 2))
    stage.create(with_port(labelled(bystander("guarded", "n1"))))
    stage.create(with_port(bystander("m0", "n2", group="ring")), bystander("m1", "n4", group="ring"))
    stage.create(with_port(bystander("c0", "n3")), running("c1", "n3", 0, priority=1))
    named = {"n1": ["uid-guarded"], "n2": ["uid-m0"], "n3": ["uid-c0", "uid-c1"]}
    for node, expected in (("n2", ["uid-m0"]), ("n3", ["uid-c1", "uid-c0"]), ("n1", ["uid-guarded"])):
        stage.wait(60)
        assert given(stage, with_port(important()), **named) == {node: expected}
        del named[node]


def test_a_budget_that_one_who_must_go_breaks_is_told() -> None:
    stage = Stage(gpu_node("n1", 1))
    budget = {"metadata": metadata("keep", None, "default"), "spec": {"selector": APART}, "status": {}}
    stage.extender.observe("poddisruptionbudgets", "ADDED", budget)
    stage.create(with_port(labelled(bystander("guarded"))))
    asked = {"n1": {"Pods": [{"UID": "uid-guarded"}], "NumPDBViolations": 1}}
    answer = stage.extender.preempt({"Pod": with_port(important()), "NodeNameToMetaVictims": asked})
    assert answer["NodeNameToMetaVictims"]["n1"]["NumPDBViolations"] == 1


def test_hundreds_of_nodes_are_judged_without_a_look_at_all_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{number:03}" for number in range(500)]
    stage = Stage(*(gpu_node(name, 1) for name in names))
    pods = [running(f"{kind}-{name}", name, *at) for name in names for kind, at in (("a", (0,)), ("b", ()))]
    stage.extender.replace("pods", pods)

    def nobody() -> Any:
        raise AssertionError("all pods were looked at")

    monkeypatch.setattr(stage.extender.ledger.pods, "all", nobody)
    named = {name: [f"uid-a-{name}", f"uid-b-{name}"] for name in names}
    assert given(stage, important(), **named) == {"n000": ["uid-a-n000", "uid-b-n000"]}


def test_a_budget_has_less_left_when_some_go_for_another_pod() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    allows_one = {"disruptionsAllowed": 1}
    budget = {
        "metadata": metadata("keep", None, "default"),
        "spec": {"selector": APART},
        "status": allows_one,
    }
    stage.extender.observe("poddisruptionbudgets", "ADDED", budget)
    stage.create(labelled(running("a", "n1", 0)), labelled(running("b", "n2", 0)))
    stage.create(important("first"), important("second"))
    told = []
    for name, node in (("first", "n1"), ("second", "n2")):
        asked = {node: {"Pods": [{"UID": "uid-a" if node == "n1" else "uid-b"}]}}
        answer = stage.extender.preempt({"Pod": stage.server.pods[name], "NodeNameToMetaVictims": asked})
        told.append(answer["NodeNameToMetaVictims"][node]["NumPDBViolations"])
    assert told == [0, 1]


def test_a_gang_that_loses_one_to_another_pod_has_that_many_fewer_to_lose() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1), gpu_node("n3", 1))
    stage.extender.observe("podgroups", "ADDED", pod_group("ring", 2))
    stage.create(*(running(f"m{n}", f"n{n + 1}" if n < 2 else "n4", 0, group="ring") for n in range(3)))
    stage.create(running("y", "n3", 0), important("first"), important("second"))
    assert offered(stage, stage.server.pods["first"], "n1") == {"n1": ["uid-m0"]}
    assert offered(stage, stage.server.pods["second"], "n2", "n3") == {"n3": ["uid-y"]}
