"""Decisions of a replay: what is remembered says what scoring every node anew would say."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.policies import registry, workload
from gpuyard.policies.candidates import best
from gpuyard.policies.workload import Shape
from gpuyard_replay.engine import NOWHERE, Engine
from gpuyard_replay.fleet import Fleet
from gpuyard_replay.traces import TraceNode, TracePod

NODES = [
    TraceNode("a0", 16_000, 65_536, 4, "A"),
    TraceNode("a1", 16_000, 65_536, 4, "A"),
    TraceNode("b0", 32_000, 65_536, 2, "B"),
    TraceNode("b1", 8_000, 32_768, 1, "B"),
]
PODS = [
    TracePod("cpu", 2_000, 1_024, 0, 0),
    TracePod("share", 1_000, 4_096, 1, 400),
    TracePod("other share", 1_000, 16_384, 1, 400),
    TracePod("whole", 4_000, 8_192, 1, 1000),
    TracePod("two of B", 2_000, 8_192, 2, 1000, ("B",)),
    TracePod("on nothing", 1_000, 1_024, 1, 1000, ("C",)),
]
STEADY = sorted(name for name, policy in registry.POLICIES.items() if policy not in registry.DRAWN)


def engine(policy: str, ranks: Sequence[int] = (2, 0, 3, 1)) -> tuple[Engine, Fleet]:
    fleet = Fleet(NODES)
    known = workload.typical(fleet.shape(pod) for pod in PODS)
    return Engine(fleet, ranks, registry.named(policy), known, 1), fleet


def by_hand(policy: str, fleet: Fleet, shape: Shape, ranks: Sequence[int]) -> int:
    rows = np.flatnonzero(fleet.fits(shape))
    if not len(rows):
        return NOWHERE
    known = workload.typical(fleet.shape(pod) for pod in PODS)
    scores = best(registry.named(policy)(fleet.candidates(rows, shape, known, 0)))
    return int(max(zip(scores, (-ranks[int(row)] for row in rows), rows, strict=True))[2])


@pytest.mark.parametrize("policy", STEADY)
@settings(deadline=None, max_examples=15)
@given(which=st.lists(st.sampled_from(PODS), max_size=25), ranks=st.permutations(range(4)))
def test_each_decision_is_the_one_that_scoring_every_node_gives(
    policy: str, which: list[TracePod], ranks: list[int]
) -> None:
    subject, fleet = engine(policy, ranks)
    for pod in which:
        shape = fleet.shape(pod)
        assert by_hand(policy, fleet, shape, ranks) == subject.place(shape)
        assert min(fleet.cpu.min(), fleet.memory.min(), fleet.gpus.min()) >= 0


def test_equally_good_nodes_are_taken_by_rank() -> None:
    subject, fleet = engine("spread", (3, 1, 2, 0))
    assert subject.place(fleet.shape(PODS[0])) == 3


def test_a_share_goes_to_the_tightest_gpu_unless_the_policy_says_otherwise() -> None:
    fleet = Fleet(NODES[2:3])
    subject = Engine(fleet, [0], registry.named("pack"), workload.typical(()), 1)
    for milli in (600, 700, 300):
        subject.place(Shape(0, milli, 1))
    assert fleet.gpus.tolist() == [[400, 0]]


def test_a_pod_whose_model_no_node_has_finds_no_place() -> None:
    subject, fleet = engine("fgd")
    assert subject.place(fleet.shape(PODS[-1])) == NOWHERE


def test_random_takes_every_node_sooner_or_later() -> None:
    taken = set()
    for seed in range(20):
        fleet = Fleet(NODES)
        known = workload.typical(())
        taken.add(Engine(fleet, range(4), registry.named("random"), known, 97 * seed).place(Shape(0, 300, 1)))
    assert taken == {0, 1, 2, 3}
