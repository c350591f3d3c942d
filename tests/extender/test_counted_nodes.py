"""Nodes without an inventory, as NVIDIA's own plugin leaves them: every policy ranks them, in whatever company."""

import pytest

from gpuyard import vocabulary
from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.policies import profiles
from gpuyard.policies.candidates import Policy
from gpuyard.policies.registry import DRAWN, POLICIES
from gpuyard.writes import JSON
from tests.extender.advice.test_simulating import ask, pod
from tests.extender.builders import Stage, gpu_node, gpu_pod
from tests.extender.test_policies import HALF, ONE_G, on_demand

COMPANIES = {"known": "bc", "counted": "ad", "mixed": "abcd"}
"""Nodes with four GPUs each. Of `a` and `d` only counts are known; `c` and `d` are in use."""
ASKED = [(vocabulary.GPU, 1), (vocabulary.GPU, 2), (ONE_G, 1), (HALF, 2)]
CHOSEN: dict[str, Policy] = {**POLICIES, **profiles.parse({"own": {"topology": 3, "mig-holes": 2, "fgd": 1}})}
INSIDE = ["topology", "clustering", "packing"]
"""Policies that look at what no count says."""


def node(name: str, resource: str) -> JSON:
    counted = name in "ad"
    if resource == vocabulary.GPU:
        return gpu_node(name, 4, inventory=not counted)
    found = on_demand(name, 4)
    if counted:
        found["metadata"]["annotations"] = {}
    return found


def stage(company: str, policy: str, resource: str) -> Stage:
    names = COMPANIES[company]
    made = Stage(*(node(name, resource) for name in names), policy=CHOSEN[policy])
    for name in set(names) & set("cd"):
        running = gpu_pod(f"on-{name}", 1, resource=resource)
        made.create(running)
        made.filter(running, name)
        assert made.bound(running, name) == ""
    return made


@pytest.mark.parametrize(("resource", "count"), ASKED)
@pytest.mark.parametrize("company", COMPANIES)
@pytest.mark.parametrize("policy", CHOSEN)
def test_every_policy_filters_ranks_plans_and_simulates(
    policy: str, company: str, resource: str, count: int
) -> None:
    made, names = stage(company, policy, resource), list(COMPANIES[company])
    [outcome] = ask(made, pod("asked", count, resource=resource))["outcomes"]
    made.create(*(gpu_pod(f"m{i}", count, resource=resource, group="g") for i in range(2)))
    planned = made.extender.plan(PlanRequest("default", "g", 2, ("uid-m0", "uid-m1")))
    assert isinstance(planned, Planned)
    asked = stage(company, policy, resource)
    assert asked.filter(gpu_pod("asked", count, resource=resource))["NodeNames"] == names
    ranked = asked.prioritize(gpu_pod("asked", count, resource=resource))
    assert sorted(ranked) == names
    first = {outcome["placed"][0]["node"], planned.reservation.seats[0].node}
    assert first <= set(names) if CHOSEN[policy] in DRAWN else first == {ranked[0]}


@pytest.mark.parametrize(
    ("policy", "resource"),
    [
        *((policy, vocabulary.GPU) for policy in INSIDE),
        *((policy, ONE_G) for policy in ["mig-holes", *INSIDE]),
    ],
)
@pytest.mark.parametrize("company", ["counted", "mixed"])
def test_what_cannot_be_judged_comes_after_what_can_the_fullest_first(
    policy: str, resource: str, company: str
) -> None:
    ranked = stage(company, policy, resource).prioritize(gpu_pod("asked", resource=resource))
    assert ranked[-2:] == ["d", "a"]


@pytest.mark.parametrize("inventory", [True, False])
@pytest.mark.parametrize("policy", ["pack", "spread", "mig-holes", "bestfit", "dotprod"])
def test_where_counts_say_all_it_makes_no_difference_what_else_is_known(policy: str, inventory: bool) -> None:
    nodes = [gpu_node("a", 8), gpu_node("b", 4, inventory=inventory), gpu_node("c", 2)]
    expected = ["a", "b", "c"] if policy == "spread" else ["c", "b", "a"]
    assert Stage(*nodes, policy=policy).prioritize(gpu_pod("asked")) == expected
