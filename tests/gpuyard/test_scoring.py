import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.cluster import Node, Placement
from gpuyard.placement import place
from gpuyard.scoring import POLICIES, Columns, columns, rank
from gpuyard.verdicts import Rejection
from tests.gpuyard.builders import GPU_RESOURCE, gpus, node, pod, request


def using(found: Node, *indexes: int) -> Node:
    ids = tuple(device.id for device in found.devices(GPU_RESOURCE) if device.gpu in indexes)
    requests = {GPU_RESOURCE: len(ids)}
    return found.taking(Placement("other", found.name, {"c": {GPU_RESOURCE: ids}}, requests))


def columns_of(count: int, *nodes: Node) -> Columns:
    wanted = request(pod(limits={GPU_RESOURCE: str(count)}))
    rows = [(found, place(wanted, found)) for found in nodes]
    return columns([(found, held) for found, held in rows if not isinstance(held, Rejection)], wanted)


def order(policy: str, found: Columns) -> list[str]:
    ranks = rank(found.names, POLICIES[policy](found), [0] * len(found.names))
    return [name for _, name in sorted(zip(ranks, found.names, strict=True), reverse=True)]


EMPTY, HALF, FULLER = node("a"), using(node("b"), 0, 1, 2, 3), using(node("c"), 0, 1, 2, 3, 4)


def test_pack_takes_the_fullest_node_and_spread_the_emptiest() -> None:
    found = columns_of(2, EMPTY, HALF, FULLER)
    assert order("pack", found) == ["c", "b", "a"]
    assert order("spread", found) == ["a", "b", "c"]


def test_fullness_is_a_share_of_the_node() -> None:
    small = using(node("small", gpus(2)), 0)
    assert order("pack", columns_of(1, using(node("large"), 0, 1), small)) == ["small", "large"]


def test_topology_takes_the_best_set_then_the_smallest_loss() -> None:
    halves = gpus(8, halves=True)
    broken = using(node("broken", halves), 0, 4)
    whole, opened = node("a-whole", halves), using(node("opened", halves), 0, 1, 2, 3)
    assert order("topology", columns_of(4, broken, whole, opened)) == ["opened", "a-whole", "broken"]


def test_a_row_counts_devices_and_pairs() -> None:
    found = columns_of(2, using(node("n", gpus(8, halves=True)), 0))
    assert dataclasses.asdict(found) == {
        "names": ["n"],
        "total": [8],
        "free": [7],
        "requested": [2],
        "score": [50],
        "score_lost": [2 * 50 + 8 * 10],
    }


def test_nodes_known_by_count_only_have_rows_too() -> None:
    counted = dataclasses.replace(node("n"), inventory=None, used={GPU_RESOURCE: 3})
    found = columns_of(2, counted)
    assert (found.total, found.free, found.score, found.score_lost) == ([8], [5], [0], [0])


def test_a_pod_without_gpus_scores_all_nodes_alike() -> None:
    found = columns_of(0, EMPTY, HALF)
    assert [POLICIES[name](found) for name in sorted(POLICIES)] == [[0, 0]] * 3


def test_preference_comes_before_score_and_names_decide_last() -> None:
    assert rank(["a", "b", "c", "d"], [1, 9, 5, 5], [3, 0, 0, 0]) == [4, 3, 2, 1]
    assert rank(["b", "a"], [1, 1], [0, 0]) == [1, 2]


@settings(deadline=None, max_examples=50)
@given(
    rows=st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(st.integers(), st.integers(0, 9))),
    data=st.data(),
)
def test_ranks_are_distinct_and_do_not_depend_on_the_order_of_rows(
    rows: dict[str, tuple[int, int]], data: st.DataObject
) -> None:
    def ranked(names: list[str]) -> dict[str, int]:
        ranks = rank(names, [rows[name][0] for name in names], [rows[name][1] for name in names])
        return dict(zip(names, ranks, strict=True))

    found = ranked(list(rows))
    assert sorted(found.values()) == list(range(1, len(rows) + 1))
    assert ranked(data.draw(st.permutations(list(rows)))) == found
