from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.topology import FAR, NUMA, NVLINK, SWITCH, best_set, linked_sets, nearness, set_score
from tests.gpuyard.builders import gpus


def at(
    index: int, nvlink: int | None = None, numa: int = 0, switch: int = 0, lost: tuple[int, ...] = ()
) -> GPU:
    return GPU(index, f"GPU-{index}", "any", 1, numa, switch, nvlink, lost_links=lost)


def cut(pairs: set[frozenset[int]], index: int) -> tuple[int, ...]:
    """What a GPU has lost where these links have failed."""
    return tuple(sorted(other for pair in pairs if index in pair for other in pair - {index}))


def without(index: int, found: tuple[GPU, ...]) -> list[GPU]:
    return [gpu for gpu in found if gpu.index != index]


def brute_force(free: list[GPU], count: int, must: list[int]) -> tuple[int, ...]:
    sets = [s for s in combinations(free, count) if {gpu.index for gpu in s} >= set(must)]

    def key(chosen: tuple[GPU, ...]) -> tuple[int, int, list[int]]:
        rest = [gpu for gpu in free if gpu not in chosen]
        return -set_score(chosen), -set_score(rest), sorted(gpu.index for gpu in chosen)

    return tuple(key(min(sets, key=key))[2]) if sets else ()


PAIRS = st.sets(st.frozensets(st.integers(0, 6), min_size=2, max_size=2), max_size=4)
PLACES = st.tuples(st.sampled_from([None, 0, 1]), st.integers(0, 1), st.integers(0, 2))


def test_nearness_goes_by_the_best_link() -> None:
    gpu = at(0, nvlink=0, numa=0, switch=0)
    others = [at(1, 0, 1, 5), at(1, 1, 0, 0), at(1, None, 0, 1), at(1, None, 1, 0)]
    assert [nearness(gpu, other) for other in others] == [NVLINK, SWITCH, NUMA, FAR]
    assert nearness(at(0), at(1)) == SWITCH


def test_a_link_that_failed_is_no_nvlink_pair_and_leaves_the_others_alone() -> None:
    first, second, third = at(0, 0, lost=(1,)), at(1, 0, numa=1, lost=(0,)), at(2, 0)
    assert (nearness(first, second), nearness(second, first)) == (FAR, FAR)
    assert [nearness(gpu, third) for gpu in (first, second)] == [NVLINK, NVLINK]
    assert best_set([first, second, third], 2) == (0, 2)


@settings(deadline=None, max_examples=100)
@given(count=st.integers(1, 7), pairs=PAIRS)
def test_linked_sets_are_all_sets_without_a_failed_link_that_no_other_holds(
    count: int, pairs: set[frozenset[int]]
) -> None:
    sets = [frozenset(s) for size in range(1, count + 1) for s in combinations(range(count), size)]
    linked = [found for found in sets if not any(pair <= found for pair in pairs)]
    largest = [found for found in linked if not any(found < other for other in linked)]
    found = linked_sets([at(index, 0, lost=cut(pairs, index)) for index in range(count)])
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


@settings(deadline=None, max_examples=150)
@given(places=st.lists(PLACES, max_size=7), pairs=PAIRS, count=st.integers(0, 7), data=st.data())
def test_the_best_set_is_that_of_trying_all(
    places: list[tuple[int | None, int, int]], pairs: set[frozenset[int]], count: int, data: st.DataObject
) -> None:
    free = [at(index, *place, cut(pairs, index)) for index, place in enumerate(places)]
    must = data.draw(st.lists(st.sampled_from(range(len(free))), max_size=count, unique=True)) if free else []
    expected = brute_force(free, count, must)
    assert best_set(free, count, must) == expected
    assert best_set(data.draw(st.permutations(free)), count, must) == expected


def test_four_of_eight_come_from_one_half() -> None:
    halves = gpus(8, halves=True)
    assert best_set(halves, 4) == (0, 1, 2, 3)
    assert best_set(without(1, halves), 4) == (4, 5, 6, 7)


def test_in_one_nvswitch_domain_the_lowest_indexes_win() -> None:
    assert best_set(without(1, gpus(8, nvlink=True)), 4) == (0, 2, 3, 4)
    assert best_set(without(1, gpus(8, nvlink=True, halves=True)), 4) == (0, 2, 3, 4)


def test_a_linked_pair_is_preferred_to_lower_indexes() -> None:
    bridges = {0: 0, 2: 0, 1: 1, 3: 1}
    assert best_set([at(index, nvlink=bridges[index]) for index in range(4)], 2) == (0, 2)


def test_sixteen_gpus_are_decided_at_once() -> None:
    unlike = [at(index, numa=index // 8, switch=index // 2) for index in range(16)]
    assert best_set(unlike, 8) == tuple(range(8))
