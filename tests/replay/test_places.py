"""Places that pods leave again: columns and MIG slices alike."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware import mig
from gpuyard.policies import registry
from gpuyard_replay.engine import NOWHERE
from gpuyard_replay.mig_places import RULES, MigPlaces, MigSeat
from gpuyard_replay.places import FleetPlaces
from gpuyard_replay.replaying import Scene
from gpuyard_replay.traces import InvalidTraceError, TraceNode, TracePod
from tests.replay.test_engine import NODES, PODS, STEADY, by_hand

RANKS = (2, 0, 3, 1)
MOVES = st.lists(st.sampled_from(PODS) | st.integers(0, 9), max_size=25)


@pytest.mark.parametrize("policy", STEADY)
@settings(deadline=None, max_examples=15)
@given(moves=MOVES)
def test_decisions_after_pods_have_left_are_those_of_scoring_every_node(
    policy: str, moves: list[TracePod | int]
) -> None:
    subject = FleetPlaces(Scene(NODES, RANKS, (), PODS, 1), registry.named(policy))
    fleet = subject._fleet
    seats = []
    for move in moves:
        if isinstance(move, TracePod):
            expected = by_hand(policy, fleet, fleet.shape(move), RANKS)
            seat = subject.take(move)
            assert (NOWHERE if seat is None else seat.row) == expected
            seats += [seat] if seat else []
        elif seats:
            subject.leave(seats.pop(move % len(seats)))
    for seat in seats:
        subject.leave(seat)
    assert fleet.states(subject._rows).gpus.sum() == subject.capacity
    assert not fleet._tags.any()


A100 = TraceNode("n", 64_000, 262_144, 2, "NVIDIA-A100-SXM4-40GB")
SIZES = {"1g.5gb": 125, "2g.10gb": 250, "3g.20gb": 500, "4g.20gb": 500, "7g.40gb": 1000, "1g.5gb+me": 125}


def instance(profile: str, cpu: int = 1000) -> TracePod:
    return TracePod(profile, cpu, 1024, 1, SIZES[profile], profile=profile)


def mig_places(rule: str, node: TraceNode = A100) -> MigPlaces:
    return MigPlaces(Scene([node], [0], (), [instance(name) for name in SIZES], 1), RULES[rule])


def take(subject: MigPlaces, profile: str) -> MigSeat | None:
    return subject.take(instance(profile))


def test_holes_keeps_room_for_large_instances_where_the_lowest_slice_does_not() -> None:
    one = TraceNode("n", 64_000, 262_144, 1, A100.model)
    for rule, starts, fits in (("pack", [0, 1], False), ("holes", [6, 4], True)):
        subject = mig_places(rule, one)
        found = [take(subject, "1g.5gb") for _ in range(2)]
        assert [seat.slot.start for seat in found if seat and seat.slot] == starts
        assert (take(subject, "4g.20gb") is not None) is fits


def test_the_fullest_gpu_with_a_legal_place_is_taken() -> None:
    subject = mig_places("holes")
    found = [take(subject, name) for name in ("1g.5gb", "1g.5gb", "7g.40gb", "1g.5gb")]
    assert [seat.gpu for seat in found if seat] == [0, 0, 1, 0]


@pytest.mark.parametrize("rule", list(RULES))
@settings(deadline=None, max_examples=40)
@given(moves=st.lists(st.sampled_from(list(SIZES)) | st.integers(0, 9), max_size=30))
def test_what_lies_on_a_gpu_is_legal_and_nothing_is_refused_that_has_a_place(
    rule: str, moves: list[str | int]
) -> None:
    subject = mig_places(rule)
    board = mig.board_of(A100.model)
    assert board is not None
    seats: list[MigSeat] = []
    for move in moves:
        if isinstance(move, int):
            if seats:
                subject.leave(seats.pop(move % len(seats)))
            continue
        profile = board.profile(move)
        assert profile is not None
        layouts = [[seat.slot for seat in seats if seat.gpu == gpu and seat.slot] for gpu in range(2)]
        possible = any(
            mig.legal(board, [*layout, (move, *place)]) for layout in layouts for place in profile.placements
        )
        seat = take(subject, move)
        assert (seat is not None) is possible
        seats += [seat] if seat else []
        for gpu in range(2):
            assert mig.legal(board, [each.slot for each in seats if each.gpu == gpu and each.slot])
        assert 0 <= subject.lost() <= subject.capacity
    for seat in seats:
        subject.leave(seat)
    assert subject.lost() == 0


def test_cpu_counts_and_pods_without_gpus_take_it_too() -> None:
    subject = mig_places("pack", TraceNode("n", 2000, 262_144, 2, A100.model))
    assert subject.take(TracePod("plain", 1500, 1, 0, 0)) is not None
    assert take(subject, "1g.5gb") is None


def test_an_instance_that_no_gpu_can_be_divided_into_is_refused_by_name() -> None:
    odd = TracePod("p", 1, 1, 1, 125, profile="1g.99gb")
    with pytest.raises(InvalidTraceError, match="pod p: no node has a GPU with 1g.99gb"):
        MigPlaces(Scene([A100], [0], (), [odd], 1), RULES["pack"])
