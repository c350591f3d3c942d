"""Who goes and where, against a look at every set of pods and of nodes."""

from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.pods.fit import NodeFit
from gpuyard_cluster.scheduler import budgets, victims
from gpuyard_cluster.scheduler.budgets import Budget
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.victims import Victims
from tests.cluster.scheduler.world import budget
from tests.cluster.small_api import node, pod

CPUS = 8


def info(name: str, cpu: int = 1, priority: int = 0, started: int = 0, **labels: str) -> PodInfo:
    made = pod(name, {"cpu": str(cpu)}, priority=priority)
    made["metadata"] |= {"uid": name, "labels": labels}
    made["status"]["startTime"] = f"2026-01-01T00:00:{started:02}Z"
    return PodInfo.of(made)


def holding(*pods: PodInfo) -> Candidate:
    obj = node("a", cpu=str(CPUS))
    booked = [found.fit.requests for found in pods]
    return Candidate(NodeFit.of(obj), {"cpu": sum(each["cpu"] for each in booked), "pods": len(pods)}, obj)


def chosen(preemptor: PodInfo, pods: Sequence[PodInfo], *limits: Budget) -> Victims:
    lower = [found for found in pods if found.priority < preemptor.priority]
    found = victims.select(preemptor, holding(*pods), lower, limits)
    assert isinstance(found, Victims)
    return found


def names(found: Victims) -> list[str]:
    return [each.name for each in found.pods]


@st.composite
def crowds(draw: st.DrawFn) -> list[PodInfo]:
    """Pods that fill a node at most; no two of them started at one time."""
    pods: list[PodInfo] = []
    for number in range(draw(st.integers(1, 6))):
        left = CPUS - sum(found.fit.requests["cpu"] // 1000 for found in pods)
        if left:
            size, app = draw(st.integers(1, min(left, 4))), draw(st.sampled_from("xyz"))
            pods.append(info(f"p{number}", size, draw(st.integers(-1, 3)), number, app=app))
    return draw(st.permutations(pods))


LIMITS = st.lists(
    st.builds(
        lambda app, allowed: Budget.of(budget(app, allowed, app=app)),
        st.sampled_from("xy"),
        st.integers(0, 2),
    ),
    max_size=2,
)


@settings(deadline=None, max_examples=100)
@given(crowds(), st.integers(1, CPUS), st.integers(0, 3), LIMITS)
def test_victims_are_those_that_a_look_at_every_set_would_choose(
    pods: list[PodInfo], size: int, priority: int, limits: list[Budget]
) -> None:
    lower = [found for found in pods if found.priority < priority]
    found = victims.select(info("new", size, priority), holding(*pods), lower, limits)
    cpus = {each.uid: each.fit.requests["cpu"] for each in pods}
    ranked = [each.uid for each in sorted(lower, key=lambda each: (-each.priority, each.started))]
    violating = budgets.violating(sorted(lower, key=lambda each: ranked.index(each.uid)), limits)
    sets = [
        gone
        for count in range(len(lower) + 1)
        for gone in combinations(ranked, count)
        if sum(cpus.values()) - sum(cpus[uid] for uid in gone) + size * 1000 <= CPUS * 1000
    ]
    if not isinstance(found, Victims):
        assert sets == []
        return
    gone = tuple(names(found))
    assert gone in sets
    assert not any(set(fewer) < set(gone) for fewer in sets), "each of them has to go"
    order = sorted(ranked, key=lambda uid: uid not in violating)
    best = max(sets, key=lambda gone: [uid not in gone for uid in order])
    assert gone == best, "the most important ones stay, those that violate a budget before all"
    assert found.violations == len(violating.intersection(gone))
    if any(violating.isdisjoint(other) for other in sets):
        assert found.violations == 0


def test_of_equals_the_one_that_has_run_the_shortest_goes() -> None:
    old, new = info("old", 4, 0, started=1), info("new", 4, 0, started=2)
    assert names(chosen(info("high", 4, 1), [new, old])) == ["new"]


def test_a_budget_is_kept_where_another_pod_can_go_and_counted_where_none_can() -> None:
    guarded, free = info("guarded", 4, 0, 2, app="x"), info("free", 4, 5, 1, app="y")
    none = Budget.of(budget("x", 0, app="x"))
    assert names(chosen(info("high", 4, 9), [guarded, free], none)) == ["free"], (
        "though its priority is higher"
    )
    both = chosen(info("high", 8, 9), [guarded, free], none)
    assert (names(both), both.violations) == (["free", "guarded"], 1)


@pytest.mark.parametrize(
    "odd",
    [
        {"spec": {"selector": {}}},
        {"spec": {}},
        {"metadata": {"name": "x", "namespace": "other"}},
        {"status": {"disruptionsAllowed": 0, "disruptedPods": {"p": "2026-01-01T00:00:00Z"}}},
    ],
)
def test_a_budget_that_selects_nothing_or_counts_the_pod_already_is_not_violated(odd: dict[str, Any]) -> None:
    limit = Budget.of({**budget("x", 0, app="x"), **odd})
    assert budgets.violating([info("p", app="x")], [limit]) == set()
    assert budgets.violating([info("q", app="x")], [Budget.of(budget("x", 0, app="x"))]) == {"q"}
    assert budgets.violating([info("bare")], [limit]) == set()


LOSSES = st.dictionaries(
    st.sampled_from("abcd"),
    st.builds(
        Victims,
        st.lists(st.tuples(st.integers(-2, 1), st.integers(0, 2)), min_size=1, max_size=3).map(
            lambda drawn: tuple(info("v", 1, *each) for each in sorted(drawn, reverse=True))
        ),
        st.integers(0, 1),
    ),
    min_size=1,
)


@settings(deadline=None, max_examples=50)
@given(LOSSES, st.integers(0, 9))
def test_the_node_is_picked_by_one_criterion_after_the_other(found: dict[str, Victims], seed: int) -> None:
    left = list(found)
    for better in (
        lambda lost: -lost.violations,
        lambda lost: -max(each.priority for each in lost.pods),
        lambda lost: -sum(each.priority + 2**31 for each in lost.pods),
        lambda lost: -len(lost.pods),
        lambda lost: min(e.started for e in lost.pods if e.priority == max(o.priority for o in lost.pods)),
    ):
        most = max(better(found[name]) for name in left)
        left = [name for name in left if better(found[name]) == most]
    assert victims.pick(found, Random(seed)) in left


def test_a_tie_between_nodes_is_drawn() -> None:
    same = Victims((info("v"),), 0)
    assert {victims.pick({"a": same, "b": same}, Random(seed)) for seed in range(20)} == {"a", "b"}


def test_of_negative_priorities_the_smaller_set_is_the_lesser_loss() -> None:
    one, two = (
        Victims((info("a", priority=-5),), 0),
        Victims((info("b", priority=-5), info("c", priority=-5)), 0),
    )
    assert {victims.pick({"two": two, "one": one}, Random(seed)) for seed in range(5)} == {"one"}
