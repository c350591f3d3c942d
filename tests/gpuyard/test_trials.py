"""What is remembered from pod to pod gives the places that judging every node anew gives."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import gangs, placement, scoring, vocabulary
from gpuyard.cluster import Cluster, Node, Placement
from gpuyard.fit import Taint
from gpuyard.gangs import GangRejection, Member
from gpuyard.inventory import MigStrategy, Sharing, SharingMode
from gpuyard.policies.candidates import Policy
from gpuyard.policies.registry import POLICIES
from gpuyard.trials import Trial
from gpuyard.verdicts import Rejection
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, SHARED, cluster, gpus, member, node, pod, split

POLICY = st.sampled_from(sorted(POLICIES))
WISHES = [
    {},
    {},
    {vocabulary.TOPOLOGY: "same-numa"},
    {vocabulary.TOPOLOGY: "nvlink"},
    {vocabulary.TOPOLOGY: "same-switch", vocabulary.TOPOLOGY_POLICY: "preferred"},
    {vocabulary.GPU_MODEL: "A100"},
    {vocabulary.MIN_GPU_MEMORY: "10Gi"},
]
TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
LIKED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": TERM}]}
SPECS: list[dict[str, Any]] = [
    {},
    {},
    {"nodeSelector": {"zone": "a"}},
    {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    {"affinity": {"nodeAffinity": LIKED}},
]


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    kind = draw(st.sampled_from(["whole", "whole", "split", "on demand", "shared", "counted", "plain"]))
    having = gpus(draw(st.integers(1, 4)), node=name, halves=draw(st.booleans()), nvlink=draw(st.booleans()))
    capacity = {"cpu": draw(st.sampled_from("248"))}
    match kind:
        case "split":
            found = node(name, [split(gpu, "1g.5gb", "3g.20gb") for gpu in having], capacity=capacity)
        case "on demand":
            found = node(name, having[:2], mig_strategy=MigStrategy.DYNAMIC, capacity=capacity)
        case "shared":
            sharing = Sharing(SharingMode.TIME_SLICING, 2, renamed=True)
            found = node(name, having, sharing=sharing, capacity=capacity)
        case "plain":
            found = node(name, [], capacity=capacity)
        case _:
            found = node(name, having, capacity=capacity)
    labels = {"zone": draw(st.sampled_from("ab")), vocabulary.PRODUCT_LABEL: having[0].model}
    taints = draw(st.sampled_from([(), (), (Taint("gpu"),)]))
    fit = dataclasses.replace(found.fit, labels=labels, taints=taints)
    return dataclasses.replace(found, fit=fit, inventory=None if kind == "counted" else found.inventory)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Some of the nodes hold pods already."""
    yard = cluster(*(draw(nodes(f"n{i}")) for i in draw(st.permutations(range(draw(st.integers(0, 5)))))))
    for there in draw(members("there", most=3)):
        found = best(there, yard, POLICIES["spread"])
        if isinstance(found, Placement):
            yard = yard.with_placement(found)
    return yard


@st.composite
def members(draw: st.DrawFn, name: str, most: int = 8) -> list[Member]:
    """Pods of a few shapes, in any order; some ask for CPU only."""
    shapes = []
    for _ in range(draw(st.integers(1, 3))):
        resource = draw(st.sampled_from([GPU_RESOURCE, GPU_RESOURCE, SHARED, ONE_G, "memory"]))
        limits = {resource: str(draw(st.integers(1, 3))), "cpu": draw(st.sampled_from(["500m", "1"]))}
        shapes.append((limits, draw(st.sampled_from(WISHES)), draw(st.sampled_from(SPECS))))
    found = []
    for i in range(draw(st.integers(0, most))):
        limits, wishes, spec = draw(st.sampled_from(shapes))
        made = pod(f"{name}-{i}", limits, **spec)
        made["metadata"]["annotations"] = wishes
        found.append(member(made))
    return found


def best(asking: Member, where: Cluster, policy: Policy) -> Placement | GangRejection:
    """Every node judged and scored anew."""
    ordered = [found for _, found in sorted(where.nodes.items())]
    verdicts = [placement.judge(asking.fit, asking.request, one) for one in ordered]
    fitting = [one for one, found in zip(ordered, verdicts, strict=True) if isinstance(found, Placement)]
    if not fitting:
        rejections = tuple(found for found in verdicts if isinstance(found, Rejection))
        return GangRejection(asking.request.name, rejections)
    scores = policy(scoring.of_nodes(asking.request, asking.fit.requests, fitting))
    likes = np.array([scoring.preference(asking.fit, asking.request, one) for one in fitting])
    chosen = fitting[int(scoring.rank(np.arange(len(fitting)), scores, likes).argmax())]
    found = placement.judge(asking.fit, asking.request, chosen)
    assert isinstance(found, Placement)
    return found


def anew(asking: Sequence[Member], where: Cluster, policy: Policy) -> tuple[Placement, ...] | GangRejection:
    placed = list[Placement]()
    for each in asking:
        found = best(each, where, policy)
        if isinstance(found, GangRejection):
            return found
        where = where.with_placement(found)
        placed.append(found)
    return tuple(placed)


@settings(deadline=None, max_examples=150)
@given(yard=clusters(), asking=members("asking"), policy=POLICY)
def test_a_gang_gets_the_places_or_the_refusal_that_judging_every_node_anew_gives(
    yard: Cluster, asking: list[Member], policy: str
) -> None:
    assert gangs.plan(asking, yard, POLICIES[policy]) == anew(asking, yard, POLICIES[policy])


@settings(deadline=None, max_examples=60)
@given(yard=clusters(), asking=members("asking"), kept=st.integers(0, 3), policy=POLICY)
def test_what_is_taken_back_was_never_placed(
    yard: Cluster, asking: list[Member], kept: int, policy: str
) -> None:
    trial, chosen = Trial(yard), POLICIES[policy]
    for each in asking[:kept]:
        trial.place(each.fit, each.request, chosen)
    before, placed = trial.cluster(), trial.placed
    first = [trial.place(each.fit, each.request, chosen) for each in asking]
    trial.take_back(placed)
    assert trial.cluster() == before
    assert [trial.place(each.fit, each.request, chosen) for each in asking] == first
    trial.take_back(0)
    assert trial.cluster() == yard
