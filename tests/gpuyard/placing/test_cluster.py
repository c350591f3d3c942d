import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.annotations import Allocation
from gpuyard.hardware.inventory import Inventory, Sharing, SharingMode
from gpuyard.placing.cluster import Cluster, Placement
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, SHARED, cluster, gpus, node, sick, split

IDS = [device.id for device in node().devices(GPU_RESOURCE)]


def holding(uid: str, *ids: str, on: str = "node-1", cpu: int = 0) -> Placement:
    requests = {"cpu": cpu, "pods": 1, GPU_RESOURCE: len(ids)}
    return Placement(uid, on, {"train": {GPU_RESOURCE: ids}}, requests)


CLAIMS = st.lists(st.sets(st.sampled_from([*IDS, "unknown"]), max_size=3), max_size=6).map(
    lambda claims: [holding(f"uid-{i}", *sorted(ids), cpu=i) for i, ids in enumerate(claims)]
)


def test_a_placed_device_is_owned_and_not_free() -> None:
    before = node()
    after = before.taking(holding("a", IDS[0], IDS[3]))
    assert after.owners == {IDS[0]: "a", IDS[3]: "a"}
    assert [device.gpu for device in after.free(GPU_RESOURCE)] == [1, 2, 4, 5, 6, 7]
    assert after.used == {GPU_RESOURCE: 2, "pods": 1}
    assert not before.owners


def test_ids_held_twice_by_one_pod_count_once() -> None:
    twice: Allocation = {"fetch": {GPU_RESOURCE: (IDS[0], IDS[1])}, "train": {GPU_RESOURCE: (IDS[0],)}}
    assert Placement("a", "node-1", twice, {}).ids == (IDS[0], IDS[1])


@settings(deadline=None, max_examples=100)
@given(before=CLAIMS, claim=st.sets(st.sampled_from([*IDS, "unknown"]), max_size=4))
def test_placing_and_then_removing_changes_nothing(before: list[Placement], claim: set[str]) -> None:
    start = cluster(node(), node("node-2"))
    for placement in before:
        start = start.with_placement(placement)
    again = holding("new", *sorted(claim), cpu=7)
    assert start.with_placement(again).without(again) == start


@settings(deadline=None, max_examples=100)
@given(claims=CLAIMS, data=st.data())
def test_removing_all_in_any_order_leaves_an_empty_node(claims: list[Placement], data: st.DataObject) -> None:
    found = node()
    for placement in claims:
        found = found.taking(placement)
    for placement in data.draw(st.permutations(claims)):
        found = found.releasing(placement)
    assert found == node()


@settings(deadline=None, max_examples=100)
@given(claims=CLAIMS)
def test_free_and_owned_make_up_the_total(claims: list[Placement]) -> None:
    found = node()
    for placement in claims:
        found = found.taking(placement)
        assert len(found.free(GPU_RESOURCE)) + len(found.owned()) == found.total(GPU_RESOURCE) == 8
        assert set(found.owners) == {
            identity for p in claims[: claims.index(placement) + 1] for identity in p.ids
        }


def test_a_device_claimed_twice_goes_to_the_second_pod_when_the_first_is_gone() -> None:
    first, second = holding("a", IDS[0]), holding("b", IDS[0])
    both = node().taking(first).taking(second)
    assert (both.owners, both.contested) == ({IDS[0]: "a"}, {IDS[0]: ("b",)})
    alone = both.releasing(first)
    assert (alone.owners, alone.contested) == ({IDS[0]: "b"}, {})


def test_overcommitted_amounts_stay_visible_and_are_never_negative() -> None:
    counted = dataclasses.replace(node(), inventory=None, used={GPU_RESOURCE: 9, "cpu": 1000})
    assert counted.left(GPU_RESOURCE) == 0
    assert counted.used[GPU_RESOURCE] == 9
    assert counted.releasing(holding("a", cpu=2000)).used == {GPU_RESOURCE: 9}


def test_unhealthy_devices_are_idle_but_not_free() -> None:
    first, *rest = gpus(2)
    found = node(having=[sick(first), *rest])
    assert [device.gpu for device in found.idle(GPU_RESOURCE)] == [0, 1]
    assert [device.gpu for device in found.free(GPU_RESOURCE)] == [1]
    assert (found.total(GPU_RESOURCE), found.left(GPU_RESOURCE)) == (2, 1)


def test_a_device_that_overlaps_an_owned_one_is_not_free() -> None:
    whole = gpus(1)[0]
    overlapping = split(whole, "1g.5gb", "1g.5gb").instances
    moved = dataclasses.replace(overlapping[1], start=overlapping[0].start)
    found = node(having=[dataclasses.replace(whole, mig_enabled=True, instances=(overlapping[0], moved))])
    taken = found.taking(Placement("a", "node-1", {"train": {ONE_G: (moved.uuid,)}}, {}))
    assert len(found.free(ONE_G)) == 2
    assert taken.free(ONE_G) == ()


def test_shares_of_one_gpu_are_owned_one_by_one() -> None:
    found = node(having=gpus(1), sharing=Sharing(SharingMode.TIME_SLICING, 3, renamed=True))
    taken = found.taking(Placement("a", "node-1", {"train": {SHARED: (found.devices(SHARED)[1].id,)}}, {}))
    assert [device.replica for device in taken.free(SHARED)] == [0, 2]


def test_without_an_inventory_only_counts_are_known() -> None:
    counted = dataclasses.replace(node(), inventory=None)
    assert counted.devices(GPU_RESOURCE) == counted.owned() == ()
    assert (counted.total(GPU_RESOURCE), counted.left(GPU_RESOURCE)) == (8, 8)
    assert counted.taking(holding("a", IDS[0])).left(GPU_RESOURCE) == 7
    assert dataclasses.replace(counted, inventory=Inventory()).total(GPU_RESOURCE) == 0


def test_nodes_come() -> None:
    both = cluster(node(), node("node-2"))
    assert Cluster().with_node(node("node-2")).with_node(node()) == both


def test_a_placement_on_an_unknown_node_changes_nothing() -> None:
    stray = holding("a", IDS[0], on="node-9")
    assert cluster(node()).with_placement(stray) == cluster(node()).without(stray) == cluster(node())
