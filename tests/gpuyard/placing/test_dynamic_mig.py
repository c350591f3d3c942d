"""Instances on demand, against brute force over NVIDIA's placement tables."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.hardware.inventory import Device, Inventory, MigStrategy
from gpuyard.hardware.mig import BOARDS, Board, Slot
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.placement import place
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, container, gpus, judged, node, pod, request, split

MODELS = ["NVIDIA A100-SXM4-40GB", "NVIDIA A30", "NVIDIA RTX PRO 6000 Blackwell Server Edition"]
BOARD = BOARDS["A100-40GB"]
PROFILES = st.sampled_from([profile.name for profile in BOARD.profiles])
THREE_G, FOUR_G, SEVEN_G = (f"nvidia.com/mig-{name}" for name in ("3g.20gb", "4g.20gb", "7g.40gb"))


def on_demand(count: int = 2, model: str = MODELS[0]) -> Node:
    return node(having=gpus(count, model=model), mig_strategy=MigStrategy.DYNAMIC)


def placed(of: JSON, on: Node) -> Placement:
    found = judged(of, on)
    assert isinstance(found, Placement), found
    return found


def slots(devices: list[Device]) -> list[Slot]:
    return [Slot(device.profile, device.start, device.size) for device in devices]


def most(board: Board, held: list[Slot], profile: str, wanted: int) -> int:
    """How many more instances of the profile a GPU can hold, at most `wanted`: every set is tried."""
    found = board.profile(profile)
    assert found is not None
    places = [Slot(profile, *where) for where in found.placements]
    for count in range(min(wanted, len(places)), 0, -1):
        if any(mig.legal(board, [*held, *more]) for more in combinations(places, count)):
            return count
    return 0


def has_room(board: Board, held: list[Slot], profiles: list[str]) -> bool:
    """Whether a GPU can hold all these too: every place of each is tried."""
    if not profiles:
        return mig.legal(board, held)
    found = board.profile(profiles[0])
    assert found is not None
    places = [Slot(found.name, *where) for where in found.placements]
    return any(mig.legal(board, [*held, s]) and has_room(board, [*held, s], profiles[1:]) for s in places)


class Oracle:
    """What the tables allow on a node's GPUs, by nothing but `mig.legal`."""

    def __init__(self, inventory: Inventory) -> None:
        board = mig.board_of(inventory.gpus[0].model)
        assert board is not None
        self.board = board
        self.gpus = [gpu.index for gpu in inventory.gpus]

    def can_hold(self, owned: list[Device], resource: str, count: int) -> bool:
        held = {gpu: [device for device in owned if device.gpu == gpu] for gpu in self.gpus}
        if resource == GPU_RESOURCE:
            return sum(not devices for devices in held.values()) >= count
        profile = next(p.name for p in self.board.profiles if vocabulary.mig_resource(p.name) == resource)
        cut = [slots(devices) for devices in held.values() if all(device.size for device in devices)]
        return sum(most(self.board, found, profile, count) for found in cut) >= count

    def check(self, owned: list[Device]) -> None:
        for gpu in self.gpus:
            here = [device for device in owned if device.gpu == gpu]
            if any(not device.size for device in here):
                assert len(here) == 1
            else:
                assert mig.legal(self.board, slots(here))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(MODELS))
def test_pods_come_and_go_and_fit_exactly_where_the_tables_have_room(data: st.DataObject, model: str) -> None:
    here = on_demand(2, model)
    assert here.inventory is not None
    oracle = Oracle(here.inventory)
    live: list[Placement] = []
    offered = Counter(device.resource for device in here.inventory.devices())
    for number in range(12):
        leaves: bool = data.draw(st.booleans())
        if live and leaves:
            here = here.releasing(live.pop(data.draw(st.integers(0, len(live) - 1))))
            continue
        resource = data.draw(st.sampled_from(sorted(offered)))
        count = data.draw(st.integers(1, 3))
        found = judged(pod(f"pod-{number}", {resource: count}), here)
        assert isinstance(found, Placement) == oracle.can_hold(list(here.owned()), resource, count)
        if isinstance(found, Placement):
            here, live = here.taking(found), [*live, found]
            oracle.check(list(here.owned()))
        elif count <= offered[resource]:
            whole = resource == GPU_RESOURCE
            assert found.reason is (Reason.INSUFFICIENT_GPUS if whole else Reason.NO_MIG_PLACEMENT)
        assert not here.contested
        assert {resource: here.total(resource) for resource in offered} == offered


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_what_does_not_overlap_is_legal_on_every_board(board: Board) -> None:
    """So conflicts can be judged device by device, without counting."""
    inventory = Inventory(gpus(1, model=board.product_names[0]), mig_strategy=MigStrategy.DYNAMIC)
    places = [device for device in inventory.devices() if device.size]
    for pair in combinations(places, 2):
        assert mig.legal(board, slots(list(pair))) != pair[0].overlaps(pair[1])
    for profile in board.profiles:
        assert len({d.id for d in places if d.profile == profile.name}) == len(profile.placements)
        apart = most(board, [], profile.name, len(profile.placements))
        assert apart == profile.max_instances


def test_a_gpu_with_an_instance_is_no_whole_gpu_and_a_whole_one_is_not_cut() -> None:
    here = on_demand(2)
    here = here.taking(placed(pod("small", {ONE_G: 1}), here))
    here = here.taking(placed(pod("whole", {GPU_RESOURCE: 1}), here))
    refused = judged(pod("second", {GPU_RESOURCE: 1}), here)
    assert isinstance(refused, Rejection)
    assert refused.reason is Reason.INSUFFICIENT_GPUS
    assert [device.gpu for device in here.owned()] == [0, 1]
    assert {device.gpu for device in here.free(ONE_G)} == {0}


def test_instances_go_where_they_leave_the_largest_holes() -> None:
    here = on_demand(2)
    for name in ("one", "two", "three"):
        here = here.taking(placed(pod(name, {ONE_G: 1}), here))
    assert {device.gpu for device in here.owned()} == {0}
    large = placed(pod("large", {FOUR_G: 1}), here)
    assert [(device.gpu, device.start) for device in here.taking(large).owned()][-1] == (0, 0)


def test_containers_of_one_pod_get_places_that_do_not_overlap() -> None:
    here = on_demand(1)
    both = pod("both", containers=[container("a", {THREE_G: 1}), container("b", {FOUR_G: 1})])
    assert sorted(device.start for device in here.taking(placed(both, here)).owned()) == [0, 4]
    more = pod("more", containers=[container("a", {THREE_G: 1}), container("b", {SEVEN_G: 1})])
    assert judged(more, here) == Rejection(
        "node-1", Reason.NO_MIG_PLACEMENT, "nvidia.com/mig-3g.20gb for a: those that are free overlap"
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(PROFILES, max_size=2), st.lists(PROFILES, min_size=2, max_size=4))
def test_a_pod_of_several_containers_fits_wherever_the_tables_have_room(
    before: list[str], wanted: list[str]
) -> None:
    here = on_demand(1)
    for name, profile in enumerate(before):
        found = judged(pod(f"pod-{name}", {vocabulary.mig_resource(profile): 1}), here)
        here = here.taking(found) if isinstance(found, Placement) else here
    containers = [container(f"c{i}", {vocabulary.mig_resource(name): 1}) for i, name in enumerate(wanted)]
    found = judged(pod("pod", containers=containers), here)
    assert isinstance(found, Placement) == has_room(BOARD, slots(list(here.owned())), wanted)


def test_nodes_are_judged_alike_however_they_are_cut_at_the_moment() -> None:
    cut = [split(gpus(1, node="other", model=MODELS[0])[0], "1g.5gb")]
    one, other = on_demand(1), node("other", cut, mig_strategy=MigStrategy.DYNAMIC)
    assert one.occupancy is other.occupancy
    assert place(request(pod("a", {ONE_G: 1})), one) != place(request(pod("a", {ONE_G: 1})), other)
