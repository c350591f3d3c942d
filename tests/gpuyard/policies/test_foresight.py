"""What foresight keeps free, and for whom."""

import dataclasses

import numpy as np
import pytest

from gpuyard.policies import foresight, fragmentation, workload
from gpuyard.policies.candidates import Candidates, best
from gpuyard.policies.outcomes import States
from gpuyard.policies.workload import Shape
from tests.gpuyard.policies.columns import candidates


def first(found: Candidates) -> int:
    """The row that is best."""
    return int(best(foresight.foresight(found)).argmax())


PODS = [Shape(11_900, 1000, 1, memory=49_000)] * 6 + [Shape(3_000, 810, 1, memory=5_000)] * 3
FORESEEN = workload.typical([*PODS, Shape(8_000, 470, 1, memory=30_000), Shape(16_000, 0, 0, memory=30_000)])


def test_foresight_keeps_cpus_for_gpus_that_more_than_one_pod_will_want() -> None:
    """With 30 CPUs left both nodes can still host the next pod, so that fragmentation sees no difference."""
    plain = Shape(16_000, 0, 0)
    both = candidates(plain, (1000, 1000, 1000, 1000), (1000, 0, 0, 0), cpu=30_000, known=FORESEEN)
    assert len(set(best(fragmentation.fgd(both)).tolist())) == 1
    assert first(both) == 1


def test_foresight_knows_that_a_hole_with_few_takers_stays() -> None:
    share = Shape(3_000, 470, 1)
    assert foresight.foresight(candidates(share, (1000, 530, 700), known=FORESEEN)).argmax() == 1


def test_what_will_be_left_over_is_all_without_cpus_and_nothing_without_gpus() -> None:
    states = States(
        np.array([0, 96_000]), np.array([2**18] * 2), np.array([[1000] * 4, [0] * 4]), np.zeros(2, int)
    )
    stranded, full = foresight.leftover(states, FORESEEN).tolist()
    usable = States(np.array([96_000]), np.array([2**18]), np.array([[1000] * 4]), np.zeros(1, int))
    assert stranded > 2 * 4000 > foresight.leftover(usable, FORESEEN)[0]
    assert full == pytest.approx(0)


SINGLE, EIGHT = Shape(8_000, 1000, 1), Shape(64_000, 1000, 8)
WHOLE_NODE, IN_USE = (1000,) * 8, (1000,) * 4 + (0,) * 4


@pytest.mark.parametrize("eights", [1, 3])
def test_whole_nodes_are_kept_for_large_pods_however_rare(eights: int) -> None:
    known = workload.typical([SINGLE] * 300 + [EIGHT] * eights)
    both = candidates(SINGLE, WHOLE_NODE, IN_USE, cpu=96_000, known=known)
    assert EIGHT.gpus not in known.count
    assert first(both) == 1


def test_without_large_pods_a_whole_node_is_worth_no_more() -> None:
    known = workload.typical([SINGLE] * 300)
    both = candidates(SINGLE, WHOLE_NODE, IN_USE, cpu=96_000, known=known)
    assert len(set(best(foresight.foresight(both)).tolist())) == 1


@pytest.mark.parametrize(("installed", "chosen"), [((), 1), ((500_000, 500_000), 1), ((900_000, 100_000), 0)])
def test_a_pod_that_may_run_anywhere_leaves_a_scarce_model_to_those_who_insist_on_it(
    installed: tuple[int, ...], chosen: int
) -> None:
    """A few more insist on model 0, so that it can be used by more pods, but of model 1 there may be few."""
    insisting = [SINGLE._replace(models=0b01)] * 22 + [SINGLE._replace(models=0b10)] * 20
    known = workload.typical([SINGLE] * 40 + insisting, installed)
    both = candidates(SINGLE, WHOLE_NODE, WHOLE_NODE, cpu=96_000, known=known)
    assert first(dataclasses.replace(both, model=np.array([0, 1]))) == chosen


@pytest.mark.parametrize(
    ("installed", "scarcity"),
    [((), []), ((700, 300), [0, 1]), ((400, 600), [0, 0.5]), ((900, 100), [0, 1]), ((1000, 0), [0, 0])],
)
def test_a_model_is_as_scarce_as_pods_insist_on_it(installed: tuple[int, ...], scarcity: list[float]) -> None:
    found = workload.typical([SINGLE] * 70 + [SINGLE._replace(models=0b10)] * 30, installed)
    assert found.scarcity.tolist() == pytest.approx(scarcity)


def test_a_pod_that_may_run_on_two_models_burdens_both_as_they_are_installed() -> None:
    found = workload.typical([SINGLE] * 50 + [SINGLE._replace(models=0b110)] * 50, (500, 400, 600))
    assert found.scarcity.tolist() == pytest.approx([0, 0.75, 0.75])
