import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.cluster import Node, Placement
from gpuyard.placement import place
from gpuyard.scoring import POLICIES, Column, Row, columns, rank, row
from gpuyard.verdicts import Rejection
from tests.gpuyard.builders import GPU_RESOURCE, gpus, node, pod, request


def using(found: Node, *indexes: int) -> Node:
    ids = tuple(device.id for device in found.devices(GPU_RESOURCE) if device.gpu in indexes)
    requests = {GPU_RESOURCE: len(ids)}
    return found.taking(Placement("other", found.name, {"c": {GPU_RESOURCE: ids}}, requests))


def rows_of(count: int, *nodes: Node) -> dict[str, Row]:
    wanted = request(pod(limits={GPU_RESOURCE: str(count)}))
    return {
        found.name: row(wanted, found) for found in nodes if not isinstance(place(wanted, found), Rejection)
    }


def column(*numbers: int) -> Column:
    return np.array(numbers, np.int64)


def by_name(names: list[str]) -> Column:
    return column(*(sorted(names).index(name) for name in names))


def order(policy: str, rows: dict[str, Row]) -> list[str]:
    scores = POLICIES[policy](columns(rows.values()))
    ranks = rank(by_name(list(rows)), scores, np.zeros_like(scores))
    return [name for _, name in sorted(zip(ranks, rows, strict=True), reverse=True)]


EMPTY, HALF, FULLER = node("a"), using(node("b"), 0, 1, 2, 3), using(node("c"), 0, 1, 2, 3, 4)


def test_pack_takes_the_fullest_node_and_spread_the_emptiest() -> None:
    found = rows_of(2, EMPTY, HALF, FULLER)
    assert order("pack", found) == ["c", "b", "a"]
    assert order("spread", found) == ["a", "b", "c"]


def test_fullness_is_a_share_of_the_node() -> None:
    small = using(node("small", gpus(2)), 0)
    assert order("pack", rows_of(1, using(node("large"), 0, 1), small)) == ["small", "large"]


def test_topology_takes_the_best_set_then_the_smallest_loss() -> None:
    halves = gpus(8, halves=True)
    broken = using(node("broken", halves), 0, 4)
    whole, opened = node("a-whole", halves), using(node("opened", halves), 0, 1, 2, 3)
    assert order("topology", rows_of(4, broken, whole, opened)) == ["opened", "a-whole", "broken"]


def test_a_row_counts_devices_and_pairs() -> None:
    found = rows_of(2, using(node("n", gpus(8, halves=True)), 0))
    assert found == {"n": Row(total=8, free=7, requested=2, score=50, score_lost=2 * 50 + 8 * 10)}


def test_nodes_known_by_count_only_have_rows_too() -> None:
    counted = dataclasses.replace(node("n"), inventory=None, used={GPU_RESOURCE: 3})
    assert rows_of(2, counted) == {"n": Row(total=8, free=5, requested=2)}


def test_a_pod_without_gpus_scores_all_nodes_alike() -> None:
    found = columns(rows_of(0, EMPTY, HALF).values())
    assert [POLICIES[name](found).tolist() for name in sorted(POLICIES)] == [[0, 0]] * 3


def test_preference_comes_before_score_and_names_decide_last() -> None:
    ranks = rank(column(0, 1, 2, 3), column(1, 9, 5, 5), column(3, 0, 0, 0))
    assert ranks.tolist() == [4, 3, 2, 1]
    assert rank(column(1, 0), column(1, 1), column(0, 0)).tolist() == [1, 2]


@settings(deadline=None, max_examples=50)
@given(
    rows=st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(st.integers(-9, 9), st.integers(0, 9))),
    data=st.data(),
)
def test_ranks_are_distinct_and_do_not_depend_on_the_order_of_rows(
    rows: dict[str, tuple[int, int]], data: st.DataObject
) -> None:
    def ranked(names: list[str]) -> dict[str, int]:
        scores, preferences = (column(*(rows[name][i] for name in names)) for i in (0, 1))
        return dict(zip(names, rank(by_name(names), scores, preferences).tolist(), strict=True))

    found = ranked(list(rows))
    assert sorted(found.values()) == list(range(1, len(rows) + 1))
    assert ranked(data.draw(st.permutations(list(rows)))) == found
