import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware.inventory import Sharing, SharingMode
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.placement import place
from gpuyard.placing.scoring import Row, best_first, of_nodes, row, state
from gpuyard.policies import workload
from gpuyard.policies.candidates import Candidates
from gpuyard.policies.memory import Informed
from gpuyard.policies.registry import POLICIES
from gpuyard.policies.workload import Column, Shape
from gpuyard.verdicts import Rejection
from tests.gpuyard.builders import GPU_RESOURCE, gpus, node, pod, request


def using(found: Node, *indexes: int) -> Node:
    ids = tuple(device.id for device in found.devices(GPU_RESOURCE) if device.gpu in indexes)
    requests = {GPU_RESOURCE: len(ids)}
    return found.taking(Placement("other", found.name, {"c": {GPU_RESOURCE: ids}}, requests))


def candidates(count: int, *nodes: Node) -> Candidates:
    """As a pod that asks for so many GPUs meets them; all of them fit."""
    wanted = request(pod(limits={GPU_RESOURCE: str(count)}))
    assert not any(isinstance(place(wanted, found), Rejection) for found in nodes)
    return of_nodes(wanted, {"cpu": 1000}, nodes)


def column(*numbers: int) -> Column:
    return np.array(numbers, np.int64)


def order(policy: str, count: int, *nodes: Node) -> list[str]:
    names = [found.name for found in nodes]
    by_name = column(*(sorted(names).index(name) for name in names))
    scores = POLICIES[policy](candidates(count, *nodes))
    return [names[place] for place in best_first(by_name, scores, np.zeros_like(by_name)).tolist()]


EMPTY, HALF, FULLER = node("a"), using(node("b"), 0, 1, 2, 3), using(node("c"), 0, 1, 2, 3, 4)


def test_pack_takes_the_fullest_node_and_spread_the_emptiest() -> None:
    assert order("pack", 2, EMPTY, HALF, FULLER) == ["c", "b", "a"]
    assert order("spread", 2, EMPTY, HALF, FULLER) == ["a", "b", "c"]


def test_fullness_is_a_share_of_the_node() -> None:
    small = using(node("small", gpus(2)), 0)
    assert order("pack", 1, using(node("large"), 0, 1), small) == ["small", "large"]


def test_topology_takes_the_best_set_then_the_smallest_loss() -> None:
    halves = gpus(8, halves=True)
    broken = using(node("broken", halves), 0, 4)
    whole, opened = node("a-whole", halves), using(node("opened", halves), 0, 1, 2, 3)
    assert order("topology", 4, broken, whole, opened) == ["opened", "a-whole", "broken"]


def test_a_row_counts_devices_and_pairs() -> None:
    found = row(request(pod(limits={GPU_RESOURCE: "2"})), using(node("n", gpus(8, halves=True)), 0))
    assert found == Row(
        total=8, free=7, requested=2, devices=2, milli=1000, tag=4, link=50, link_lost=2 * 50 + 8 * 10
    )


def test_nodes_known_by_count_only_have_rows_and_states_too() -> None:
    counted = dataclasses.replace(node("n"), inventory=None, used={GPU_RESOURCE: 3})
    found = row(request(pod(limits={GPU_RESOURCE: "2"})), counted)
    assert found == Row(total=8, free=5, requested=2, devices=2, milli=1000, tag=4)
    assert state(counted).gpus == (1000,) * 5


def test_a_state_tells_shares_as_parts_of_their_gpu() -> None:
    shared = node("n", gpus(2), sharing=Sharing(SharingMode.TIME_SLICING, replicas=4))
    ids = [device.id for device in shared.devices(GPU_RESOURCE)]
    held = shared.taking(Placement("p", "n", {"c": {GPU_RESOURCE: (ids[4],)}}, {"cpu": 1000}))
    found = state(held)
    assert (found.gpus, found.tags) == ((1000, 750), Shape(0, 250, 1).tag)
    assert found.cpu == state(shared).cpu - 1000


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_scores_pods_without_gpus_and_no_nodes_at_all(policy: str) -> None:
    shapes = [Shape(4000, 1000, 1), Shape(1000, 0, 0), Shape(2000, 500, 1)]
    known = workload.typical(shapes)
    told = Informed(POLICIES[policy], lambda: known)
    for count in (0, 1, 2):
        assert len(told(candidates(count, EMPTY, HALF))) == 2
        assert len(told(candidates(count))) == 0


def test_preference_comes_before_score_and_names_decide_last() -> None:
    assert best_first(column(0, 1, 2, 3), column(1, 9, 5, 5), column(3, 0, 0, 0)).tolist() == [0, 1, 2, 3]
    assert best_first(column(1, 0), column(1, 1), column(0, 0)).tolist() == [1, 0]


@settings(deadline=None, max_examples=50)
@given(
    rows=st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(st.integers(-9, 9), st.integers(0, 9))),
    data=st.data(),
)
def test_the_order_has_every_row_once_and_does_not_depend_on_the_order_of_rows(
    rows: dict[str, tuple[int, int]], data: st.DataObject
) -> None:
    def ranked(names: list[str]) -> list[str]:
        by_name = column(*(sorted(names).index(name) for name in names))
        scores, preferences = (column(*(rows[name][i] for name in names)) for i in (0, 1))
        return [names[place] for place in best_first(by_name, scores, preferences).tolist()]

    found = ranked(list(rows))
    assert sorted(found) == sorted(rows)
    assert ranked(data.draw(st.permutations(list(rows)))) == found
