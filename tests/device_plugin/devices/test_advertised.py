"""Another configuration under running pods: nothing is dropped in silence, and nothing is given twice."""

import dataclasses

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.gpus import mig_uuid, placement_uuid
from gpuyard.hardware.inventory import Inventory, Sharing, SharingMode
from gpuyard_device_plugin.devices.advertised import FORGET_SECONDS, Advertised
from tests.device_plugin.fakes import gpus

GPU, SHARED = vocabulary.GPU, vocabulary.GPU_SHARED
WHOLE = Inventory(gpus(2))
SLICED = Inventory(gpus(2), Sharing(SharingMode.TIME_SLICING, 2, renamed=True))
FIRST, SECOND = (device.id for device in WHOLE.devices())


def lost(found: Advertised, resource: str = GPU) -> list[str]:
    return [device.id for device in found.lost(resource)]


def test_what_vanishes_is_told_as_unhealthy_for_a_while() -> None:
    found = Advertised(WHOLE).becomes(Inventory(gpus(1)), now=0)
    assert [(device.id, device.healthy) for device in found.lost(GPU)] == [(SECOND, False)]
    assert lost(found.kept({}, FORGET_SECONDS - 1)) == [SECOND]
    assert lost(found.kept({}, FORGET_SECONDS)) == []


def test_what_a_pod_holds_is_not_forgotten() -> None:
    found = Advertised(WHOLE).becomes(SLICED, now=0).kept({FIRST: GPU}, FORGET_SECONDS)
    assert lost(found) == [FIRST]
    assert lost(found.kept({}, FORGET_SECONDS)) == []


def test_a_gpu_is_not_offered_in_its_new_shape_while_a_pod_holds_it_in_the_old_one() -> None:
    found = Advertised(WHOLE).becomes(SLICED, now=0)
    assert [device.healthy for device in found.table({FIRST}).of_resource(SHARED)] == [False] * 2 + [True] * 2
    assert all(device.healthy for device in found.table(()).by_id.values())


def test_a_device_that_only_changes_its_resource_stays_where_it_is_held() -> None:
    before = dataclasses.replace(SLICED, sharing=dataclasses.replace(SLICED.sharing, renamed=False))
    found = Advertised(before).becomes(SLICED, now=0)
    assert len(lost(found)) == 4
    assert all(device.healthy for device in found.table({f"{FIRST}::0"}).by_id.values())


def test_what_comes_back_is_lost_no_longer() -> None:
    found = Advertised(WHOLE).becomes(SLICED, now=0).becomes(WHOLE, now=1)
    assert (lost(found), len(lost(found, SHARED))) == ([], 4)


@pytest.mark.parametrize(
    ("identity", "gpu"),
    [
        (FIRST, FIRST),
        (f"{FIRST}::3", FIRST),
        (mig_uuid(SECOND, 5), SECOND),
        (placement_uuid(SECOND, "1g.5gb", 2), SECOND),
        ("GPU-of-another-life", ""),
        ("", ""),
    ],
)
def test_what_a_pod_holds_of_an_earlier_life_is_told_and_its_gpu_known(identity: str, gpu: str) -> None:
    found = Advertised(SLICED).kept({identity: GPU}, now=FORGET_SECONDS)
    assert (lost(found), lost(found, SHARED)) == ([identity], [])
    [gone] = found.vanished.values()
    assert gone.gpu == gpu
    assert lost(found.kept({}, now=FORGET_SECONDS)) == []
