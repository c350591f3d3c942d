"""The policy `mig-holes`, against NVIDIA's placement tables."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware import mig
from gpuyard.hardware.inventory import MigStrategy
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.scoring import of_nodes
from gpuyard.policies.registry import POLICIES
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE, gpus, judged, node, pod, request, split

BOARD = mig.BOARDS["A100-40GB"]
PLACES = sorted((p.name, start) for p in BOARD.profiles if "+me" not in p.name for start, _ in p.placements)
HALF, SMALL, QUARTER = "3g.20gb", "1g.5gb", "2g.10gb"


def on_demand(name: str, *held: tuple[str, int], count: int = 1) -> Node:
    """A node whose first GPU holds instances of these profiles at these slices, as far as they do not overlap."""
    found = node(name, gpus(count, node=name), mig_strategy=MigStrategy.DYNAMIC)
    for number, (profile, start) in enumerate(held):
        resource = f"nvidia.com/mig-{profile}"
        ids = [d.id for d in found.free(resource) if d.gpu == 0 and d.start == start]
        owner = Placement(f"held-{number}", name, {"c": {resource: tuple(ids)}}, {resource: len(ids)})
        found = found.taking(owner)
    return found


def asking(resource: str, count: int = 1) -> JSON:
    return pod("asked", {resource: str(count)})


def ranked(policy: str, of: JSON, *nodes: Node) -> list[str]:
    """The nodes that can take the pod, the best first, equals by name."""
    fit = [found for found in nodes if isinstance(judged(of, found), Placement)]
    scores = POLICIES[policy](of_nodes(request(of), {}, fit)).tolist()
    return [
        found.name for _, found in sorted(zip(scores, fit, strict=True), key=lambda p: (-p[0], p[1].name))
    ]


def places_left(of: JSON, on: Node, *others: Node) -> tuple[int, ...]:
    """How many places for instances the cluster has once the pod is there, by memory slices, the largest first."""
    found = judged(of, on)
    assert isinstance(found, Placement)
    left = Counter[int]()
    for known in (on.taking(found), *others):
        for gpu in known.inventory.gpus if known.inventory else ():
            held = [(d.profile, d.start, d.size) for d in known.owned() if d.gpu == gpu.index]
            for profile in BOARD.profiles:
                places = ((profile.name, *place) for place in profile.placements)
                left[profile.memory_slices] += sum(mig.legal(BOARD, [*held, place]) for place in places)
    return tuple(left[size] for size in (8, 4, 2, 1))


@pytest.mark.parametrize(
    ("profile", "one", "other", "why"),
    [
        (SMALL, [("4g.20gb", 0), (QUARTER, 4)], [("4g.20gb", 0)], "one slice is left there, here a half"),
        (SMALL, [(HALF, 4)], [], "a half is broken there, here a whole GPU"),
        (SMALL, [(HALF, 0)], [(HALF, 4)], "3g at 4 is all that goes there, 4g and 3g at 0 here"),
        (QUARTER, [("4g.20gb", 0), (SMALL, 6)], [(HALF, 4)], "two slices are left there, here a half"),
        (HALF, [(SMALL, 0)], [], "the other half is whole there, here the GPU"),
    ],
)
def test_of_two_gpus_the_one_is_taken_that_has_less_to_lose(
    profile: str, one: list[tuple[str, int]], other: list[tuple[str, int]], why: str
) -> None:
    better, worse = on_demand("z-better", *one), on_demand("a-worse", *other)
    of = asking(f"nvidia.com/mig-{profile}")
    assert ranked("mig-holes", of, better, worse) == ["z-better", "a-worse"], why


def test_a_whole_gpu_of_a_node_in_use_is_worth_as_much_as_that_of_an_idle_one() -> None:
    """By the number of free places the busy node is fuller, and the last hole of the other one stays unused."""
    busy = on_demand("busy", ("7g.40gb", 0), count=2)
    open_ = on_demand("open", ("4g.20gb", 0), (QUARTER, 4), count=2)
    of = asking(f"nvidia.com/mig-{SMALL}")
    assert ranked("pack", of, busy, open_) == ["busy", "open"]
    assert ranked("mig-holes", of, busy, open_) == ["open", "busy"]


def test_instances_that_are_cut_already_cost_nothing_but_themselves_so_the_fullest_node_is_taken() -> None:
    cut = [split(gpus(1, node=name)[0], SMALL, SMALL, HALF) for name in ("a", "b")]
    idle, used = (
        node(name, [gpu], mig_strategy=MigStrategy.MIXED) for name, gpu in zip("ab", cut, strict=True)
    )
    of = asking(f"nvidia.com/mig-{SMALL}")
    taken = judged(of, used)
    assert isinstance(taken, Placement)
    assert ranked("mig-holes", of, idle, used.taking(taken)) == ["b", "a"]


HELD = st.lists(st.sampled_from(PLACES), max_size=4)


def legal(held: list[tuple[str, int]]) -> list[tuple[str, int]]:
    kept: list[tuple[str, int]] = []
    for profile, start in held:
        slots = [
            (p, s, size.memory_slices) for p, s in [*kept, (profile, start)] if (size := BOARD.profile(p))
        ]
        if mig.legal(BOARD, slots):
            kept.append((profile, start))
    return kept


@settings(deadline=None, max_examples=60)
@given(
    held=st.lists(HELD, min_size=2, max_size=3),
    profile=st.sampled_from(sorted({name for name, _ in PLACES})),
    count=st.integers(1, 2),
)
def test_the_first_node_leaves_the_cluster_the_most_places_for_large_instances(
    held: list[list[tuple[str, int]]], profile: str, count: int
) -> None:
    nodes = [on_demand(f"n{number}", *legal(found), count=2) for number, found in enumerate(held)]
    of = asking(f"nvidia.com/mig-{profile}", count)
    left = {
        known.name: places_left(of, known, *(other for other in nodes if other is not known))
        for known in nodes
        if isinstance(judged(of, known), Placement)
    }
    order = ranked("mig-holes", of, *nodes)
    assert sorted(order) == sorted(left)
    assert [left[name] for name in order] == sorted(left.values(), reverse=True)


@settings(deadline=None, max_examples=30)
@given(held=st.lists(HELD, min_size=1, max_size=3), count=st.integers(0, 2))
def test_pods_without_instances_are_ranked_as_pack_ranks_them(
    held: list[list[tuple[str, int]]], count: int
) -> None:
    nodes = [on_demand(f"n{number}", *legal(found), count=3) for number, found in enumerate(held)]
    found = of_nodes(request(asking(GPU_RESOURCE, count)), {}, nodes)
    assert np.array_equal(POLICIES["mig-holes"](found), POLICIES["pack"](found))
