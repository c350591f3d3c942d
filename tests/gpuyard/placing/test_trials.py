"""What is remembered from pod to pod gives the places that judging every node anew gives."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.groups import gangs
from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard.placing import placement, scoring
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.trials import Trial
from gpuyard.pods.fit import Taint
from gpuyard.policies.candidates import Policy
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Rejection
from tests.gpuyard.builders import A100, GPU_RESOURCE, ONE_G, SHARED, cluster, gpus, member, node, pod, split

# Those that tell a node just taken from one like it as it was are drawn more often.
POLICY = st.sampled_from([*sorted(POLICIES), "spread", "spread", "topology"])
WISHES = [
    *[{}] * 5,
    {vocabulary.TOPOLOGY: "same-numa"},
    {vocabulary.TOPOLOGY: "nvlink"},
    {vocabulary.TOPOLOGY: "same-switch", vocabulary.TOPOLOGY_POLICY: "preferred"},
    {vocabulary.GPU_MODEL: "A100"},
    {vocabulary.MIN_GPU_MEMORY: "10Gi"},
]
TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
LIKED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": TERM}]}
SPECS: list[dict[str, Any]] = [
    *[{}] * 4,
    {"nodeSelector": {"zone": "a"}},
    {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    {"affinity": {"nodeAffinity": LIKED}},
]


@st.composite
def kinds(draw: st.DrawFn) -> Callable[[str], Node]:
    """How a node is made of its name."""
    kind = draw(
        st.sampled_from([*["whole"] * 4, "split", "on demand", "on demand", "shared", "counted", "plain"])
    )
    count, halves, nvlink = draw(st.sampled_from([2, 4])), draw(st.booleans()), draw(st.booleans())
    capacity = {"cpu": draw(st.sampled_from(["4", "64", "64"]))}
    labels = {"zone": draw(st.sampled_from("ab")), vocabulary.PRODUCT_LABEL: A100}
    taints = draw(st.sampled_from([(), (), (), (Taint("gpu"),)]))

    def make(name: str) -> Node:
        having = gpus(0 if kind == "plain" else count, node=name, halves=halves, nvlink=nvlink)
        if kind == "split":
            having = tuple(split(gpu, "1g.5gb", "3g.20gb") for gpu in having)
        sharing = Sharing(SharingMode.TIME_SLICING, 2, renamed=True) if kind == "shared" else Sharing()
        strategy = MigStrategy.DYNAMIC if kind == "on demand" else MigStrategy.MIXED
        found = node(name, having, sharing=sharing, mig_strategy=strategy, capacity=capacity)
        fit = dataclasses.replace(found.fit, labels=labels, taints=taints)
        return dataclasses.replace(found, fit=fit, inventory=None if kind == "counted" else found.inventory)

    return make


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Nodes of few kinds, some of which hold pods already."""
    makers = draw(st.lists(kinds(), min_size=1, max_size=2))
    names = draw(st.permutations([f"n{i}" for i in range(draw(st.integers(3, 6)))]))
    yard = cluster(*(makers[i % len(makers)](name) for i, name in enumerate(names)))
    for there in draw(members("there", most=3)):
        found = best(there, yard, POLICIES["spread"])
        if isinstance(found, Placement):
            yard = yard.with_placement(found)
    return yard


@st.composite
def members(draw: st.DrawFn, name: str, most: int = 12) -> list[Member]:
    """Pods of a few shapes, in any order; some ask for CPU only."""
    shapes = []
    for _ in range(draw(st.integers(1, 3))):
        resource = draw(st.sampled_from([*[GPU_RESOURCE] * 5, SHARED, ONE_G, ONE_G, "memory"]))
        limits = {resource: draw(st.sampled_from("112")), "cpu": draw(st.sampled_from(["500m", "1"]))}
        shapes.append((limits, draw(st.sampled_from(WISHES)), draw(st.sampled_from(SPECS))))
    found = []
    for i in range(draw(st.integers(most // 2, most))):
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
    chosen = fitting[int(scoring.best_first(np.arange(len(fitting)), scores, likes)[0])]
    found = placement.judge(asking.fit, asking.request, chosen)
    assert isinstance(found, Placement)
    return found


@settings(deadline=None, max_examples=150)
@given(yard=clusters(), asking=members("asking"), policy=POLICY)
def test_each_pod_gets_the_place_or_the_refusal_that_judging_every_node_anew_gives(
    yard: Cluster, asking: list[Member], policy: str
) -> None:
    trial, where, refused = Trial(yard), yard, list[GangRejection]()
    for each in asking:
        found = best(each, where, POLICIES[policy])
        assert gangs.member_on(trial, each, POLICIES[policy]) == found
        if isinstance(found, GangRejection):
            refused.append(found)
        else:
            where = where.with_placement(found)
    assert trial.cluster() == where
    planned = gangs.plan(asking, yard, POLICIES[policy])
    assert isinstance(planned, GangRejection) == bool(refused)
    assert not refused or planned == refused[0]


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
