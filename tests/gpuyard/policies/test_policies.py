"""Policies over candidates that are written down: what each prefers, and that nothing else matters."""

import dataclasses
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.policies import counted, fragmentation, registry, workload
from gpuyard.policies.candidates import Candidates, best
from gpuyard.policies.memory import Informed
from gpuyard.policies.outcomes import States
from gpuyard.policies.registry import POLICIES, UnknownPolicyError, named
from gpuyard.policies.workload import Shape, Workload
from tests.gpuyard.policies.columns import KNOWN, candidates
from tests.gpuyard.policies.test_foresight import FORESEEN

STEADY = sorted(name for name, policy in POLICIES.items() if policy not in registry.DRAWN)


def scores(policy: str, found: Candidates) -> list[int]:
    return best(POLICIES[policy](found)).tolist()


def first(policy: str, found: Candidates) -> int:
    return scores(policy, found).index(max(scores(policy, found)))


HALF, WHOLE, PAIR = Shape(4000, 500, 1), Shape(8000, 1000, 1), Shape(8000, 1000, 2)


@pytest.mark.parametrize("policy", ["bestfit", "fgd", "pack", "packing"])
def test_a_share_goes_where_it_fills_a_gpu_that_is_open(policy: str) -> None:
    assert first(policy, candidates(HALF, (1000, 1000), (500, 1000), tags=1)) == 1


def test_dotprod_takes_the_node_with_least_left() -> None:
    assert first("dotprod", candidates(WHOLE, (1000,) * 8, (1000, *(0,) * 7))) == 1


def test_fgd_fills_the_hole_that_typical_pods_leave_and_names_the_gpu() -> None:
    found = POLICIES["fgd"](candidates(HALF, (1000, 500, 700)))
    assert np.argmax(found[0]) == 1


def test_fgd_keeps_cpus_where_gpus_are_free() -> None:
    plain = Shape(2000, 0, 0)
    assert first("fgd", candidates(plain, (1000, 1000), (0, 0), cpu=9000)) == 1


def test_fragmentation_is_what_a_typical_pod_could_not_use() -> None:
    one = workload.typical([Shape(4000, 600, 1)])
    states = States(np.array([4000, 3999]), np.zeros(2), np.array([[500, 700], [500, 700]]), np.zeros(2, int))
    assert fragmentation.fragmentation(states, one).tolist() == [500, 1200]


def test_pods_without_gpus_and_excluded_models_make_everything_fragment() -> None:
    other = workload.typical([Shape(1000, 1000, 1, models=2)] * 3 + [Shape(1000, 0, 0)])
    states = States(np.array([8000] * 2), np.zeros(2), np.full((2, 1), 1000), np.array([0, 1]))
    assert fragmentation.fragmentation(states, other).tolist() == [1000, 250]


def test_clustering_prefers_its_own_kind_then_mixed_then_idle_nodes() -> None:
    ranked = [
        scores("clustering", candidates(PAIR, (1000,) * 8, tags=tags))[0]
        for tags in (PAIR.tag, PAIR.tag | HALF.tag, 0, WHOLE.tag)
    ]
    assert ranked == [75, 50, 25, 0]


def test_packing_opens_no_gpu_where_one_is_open_and_no_node_where_one_is_in_use() -> None:
    assert scores("packing", candidates(HALF, (600, 1000), (1000, 1000), tags=1)) == [94, 49]
    assert scores("packing", candidates(WHOLE, (1000, 1000), tags=0)) == [31]


def test_random_draws_anew_for_each_pod_and_only_gpus_that_suffice() -> None:
    found = candidates(HALF, *[(1000, 400)] * 50)
    taken = {first("random", dataclasses.replace(found, draw=draw)) for draw in range(30)}
    assert len(taken) > 10
    assert POLICIES["random"](found)[:, 1].max() == -1
    assert first("random", found) == first("random", found)


@pytest.mark.parametrize("policy", STEADY)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_a_score_depends_on_no_other_row(policy: str, data: st.DataObject) -> None:
    gpu = st.sampled_from([0, 190, 500, 530, 1000])
    nodes = data.draw(st.lists(st.tuples(gpu, gpu, st.just(1000)), min_size=1, max_size=6))
    shape = data.draw(st.sampled_from([HALF, WHOLE, Shape(1000, 0, 0)]))
    together = POLICIES[policy](candidates(shape, *nodes * data.draw(st.sampled_from([1, 64])))).tolist()
    alone = [POLICIES[policy](candidates(shape, node)).tolist()[0] for node in nodes]
    assert together == alone * (len(together) // len(alone))


def test_the_typical_pods_are_the_most_frequent_up_to_95_percent() -> None:
    rare = [Shape(1000 * i, 1000, 1) for i in range(1, 6)]
    found = workload.typical([HALF] * 90 + [WHOLE] * 5 + rare)
    assert (found.milli.tolist(), found.part.tolist()) == ([500, 1000], [0.9 / 0.95, 0.05 / 0.95])


def test_a_name_that_no_policy_has_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UnknownPolicyError, match="'fdg'.*bestfit, clustering"):
        named("fdg")


def test_an_installed_distribution_adds_policies_but_replaces_none(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = "gpuyard.policies.counted:spread"
    installed = metadata.EntryPoints(
        metadata.EntryPoint(name, spread, registry.PLUGINS) for name in ("own", "fgd")
    )
    monkeypatch.setattr(metadata, "entry_points", lambda **chosen: installed.select(**chosen))
    assert "own" in registry.names()
    found = candidates(HALF, (1000, 500), (700, 0))
    assert named("own")(found).tolist() == counted.spread(found).tolist()
    assert named("fgd") is fragmentation.fgd


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_what_is_remembered_is_what_is_said_anew(data: st.DataObject) -> None:
    known = [KNOWN, FORESEEN]
    for policy in (POLICIES["fgd"], POLICIES["foresight"], POLICIES["pack"]):
        told = Informed(policy, lambda: known[0])
        for _ in range(4):
            nodes = data.draw(st.lists(st.sampled_from([(1000, 500), (190, 0), (1000, 1000)]), max_size=5))
            shape = data.draw(st.sampled_from([HALF, WHOLE, Shape(1000, 0, 0)]))
            known.reverse()
            found = candidates(shape, *nodes or [(0, 0)], known=known[0])
            assert told(found).tolist() == best(policy(found)).tolist()


@pytest.mark.parametrize("policy", sorted(name for name in POLICIES if POLICIES[name] in registry.BLIND))
def test_nobody_learns_what_pods_are_typical_for_a_policy_that_does_not_care(policy: str) -> None:
    def learn() -> Workload:
        raise AssertionError

    told = Informed(POLICIES[policy], learn)
    for known in (KNOWN, FORESEEN):
        found = candidates(HALF, (1000, 500), (700, 0), known=known)
        assert told(found).tolist() == scores(policy, candidates(HALF, (1000, 500), (700, 0)))
