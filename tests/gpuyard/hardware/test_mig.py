from collections.abc import Sequence
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware import mig
from gpuyard.hardware.mig import BOARDS, Board, Profile, Slot
from gpuyard.verdicts import Reason, Rejection

A100 = BOARDS["A100-40GB"]
Layout = frozenset[Slot]


def plain(board: Board, *, double_memory: bool) -> list[str]:
    """Profiles without suffix; a 1g with the memory of a 2g only if asked for."""
    names = [profile for profile in board.profiles if not set("+-") & set(profile.name)]
    smallest = min(profile.memory_slices for profile in names)
    return [
        profile.name
        for profile in names
        if double_memory or profile.compute_slices > 1 or profile.memory_slices == smallest
    ]


def slots(board: Board, names: Sequence[str]) -> list[Slot]:
    return [Slot(p.name, *place) for p in board.profiles if p.name in names for place in p.placements]


def layouts(board: Board, names: Sequence[str]) -> set[Layout]:
    """Every legal layout, grown one instance at a time by nothing but `legal`."""
    every = slots(board, names)
    found: set[Layout] = {frozenset()}
    edge = list(found)
    while edge:
        grown = {layout | {slot} for layout in edge for slot in every if slot not in layout}
        edge = [layout for layout in grown - found if mig.legal(board, sorted(layout))]
        found |= set(edge)
    return found


def multiset(layout: Layout) -> tuple[str, ...]:
    return tuple(sorted(slot.profile for slot in layout))


@pytest.mark.parametrize(
    ("key", "double_memory", "positioned", "multisets"),
    [
        ("A100-40GB", False, 19, 14),
        ("A100-40GB", True, 78, 38),
        ("H100-80GB", False, 19, 14),
        ("H200-141GB", True, 78, 38),
        ("A30-24GB", False, 5, 4),
        ("RTX-PRO-6000-Blackwell-SE", False, 5, 4),
    ],
)
def test_a_board_has_as_many_full_layouts_as_nvidia_lists(
    key: str, double_memory: bool, positioned: int, multisets: int
) -> None:
    board = BOARDS[key]
    found = layouts(board, plain(board, double_memory=double_memory))
    for layout in found:
        profiles = [board.profile(slot.profile) for slot in layout]
        assert sum(profile.compute_slices for profile in profiles if profile) <= board.compute_slices
    full = [layout for layout in found if not any(layout < other for other in found)]
    assert (len(full), len({multiset(layout) for layout in full})) == (positioned, multisets)


def test_place_all_finds_a_layout_exactly_where_there_is_one() -> None:
    names = plain(A100, double_memory=True)
    possible = {multiset(layout) for layout in layouts(A100, names)}
    for count in range(5):
        for wanted in combinations_with_replacement(names, count):
            placed = mig.place_all(A100, wanted)
            if tuple(sorted(wanted)) in possible:
                assert not isinstance(placed, Rejection)
                assert mig.legal(A100, placed)
                assert multiset(frozenset(placed)) == tuple(sorted(wanted))
            else:
                assert isinstance(placed, Rejection)
                assert placed.reason is Reason.NO_MIG_PLACEMENT


@settings(deadline=None, max_examples=50)
@given(
    board=st.sampled_from(list(BOARDS.values())),
    picks=st.lists(st.integers(0, 10), max_size=7),
    data=st.data(),
)
def test_the_order_of_the_wish_does_not_matter(board: Board, picks: list[int], data: st.DataObject) -> None:
    wanted = [board.profiles[pick % len(board.profiles)].name for pick in picks]
    placed = mig.place_all(board, wanted)
    assert mig.place_all(board, data.draw(st.permutations(wanted))) == placed
    assert isinstance(placed, Rejection) or mig.legal(board, placed)


def test_a_3g_lands_where_four_1g_still_fit() -> None:
    placed = mig.place_all(A100, ["3g.20gb", *["1g.5gb"] * 4])
    assert not isinstance(placed, Rejection)
    assert placed[-1] == Slot("3g.20gb", 4, 4)


@pytest.mark.parametrize(
    ("profile", "start"), [("1g.5gb", 6), ("2g.10gb", 4), ("3g.20gb", 4), ("4g.20gb", 0), ("1g.10gb", 6)]
)
def test_one_instance_lies_where_it_leaves_the_largest_holes(profile: str, start: int) -> None:
    placed = mig.place_all(A100, [profile])
    assert not isinstance(placed, Rejection)
    assert [slot.start for slot in placed] == [start]


def test_room_counts_the_places_left_from_the_largest_instance_down() -> None:
    assert mig.room(A100, []) == (1, 1, 2, 3, 4, 7)
    assert mig.room(A100, [(0, 4)]) == (0, 0, 1, 1, 2, 3)
    assert mig.room(A100, [(4, 4)]) == (0, 1, 1, 2, 2, 4)


@pytest.mark.parametrize(
    "placed",
    [
        [Slot("1g.5gb", 7, 1)],
        [Slot("3g.20gb", 2, 4)],
        [Slot("1g.5gb", 0, 2)],
        [Slot("9g.90gb", 0, 8)],
        [Slot("3g.20gb", 0, 4), Slot("4g.20gb", 0, 4)],
        [Slot("1g.5gb+me", 0, 1), Slot("1g.5gb+me", 1, 1)],
    ],
)
def test_illegal_layouts_are_told(placed: list[Slot]) -> None:
    assert not mig.legal(A100, placed)


def test_the_media_engines_go_to_one_instance_only() -> None:
    board = BOARDS["A30-24GB"]
    assert not mig.legal(board, [Slot("1g.6gb+me", 0, 1), Slot("2g.12gb+me", 2, 2)])


def test_a_profile_has_no_more_instances_than_its_listing_says() -> None:
    profile = Profile("1g.1gb", 1, 1, 1, ((0, 1), (1, 1)), 0, 0, 19)
    board = Board("toy", (), 2, 2, (profile,))
    assert mig.legal(board, [Slot("1g.1gb", 1, 1)])
    assert not mig.legal(board, [Slot("1g.1gb", 0, 1), Slot("1g.1gb", 1, 1)])


def test_an_unknown_profile_is_an_invalid_request() -> None:
    refused = mig.place_all(A100, ["1g.10gb", "1g.12gb"])
    assert isinstance(refused, Rejection)
    assert (refused.reason, "1g.12gb" in refused.detail) == (Reason.INVALID_REQUEST, True)


def test_instance_ids_are_those_that_were_seen_on_hardware() -> None:
    small, large = BOARDS["A30-24GB"], BOARDS["H100-94GB-NVL"]
    assert [mig.instance_id(small, start, 1) for start in range(4)] == [3, 4, 5, 6]
    assert [mig.instance_id(large, *span) for span in [(0, 4), (4, 2), (6, 1)]] == [1, 5, 13]
