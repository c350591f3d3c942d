import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.kubelet.checkpoint import (
    CONTAINERS_FILE,
    DEVICES_FILE,
    Started,
    UnusableCheckpointError,
    read_containers,
    read_devices,
    write_containers,
    write_devices,
)
from gpuyard_cluster.kubelet.device_manager import Devices, Holding
from gpuyard_cluster.kubelet.disks import MemoryDisk

_TEXT = st.text(max_size=5)
_ENVS = st.dictionaries(_TEXT, _TEXT, max_size=2)
_HOLDINGS = st.builds(Holding, _TEXT, _TEXT, _TEXT, st.lists(_TEXT, max_size=3).map(tuple), _ENVS)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(_HOLDINGS, max_size=4), st.dictionaries(_TEXT, st.dictionaries(_TEXT, st.booleans()), max_size=3)
)
def test_holdings_and_names_of_resources_survive_and_lists_do_not(
    holdings: list[Holding], lists: dict[str, dict[str, bool]]
) -> None:
    disk = MemoryDisk()
    write_devices(disk, Devices(lists, frozenset(lists), tuple(holdings)))
    assert read_devices(disk) == Devices({name: {} for name in lists}, frozenset(), tuple(holdings))


@settings(deadline=None, max_examples=30)
@given(
    st.dictionaries(_TEXT, st.builds(Started, st.floats(0, 2e9), st.dictionaries(_TEXT, _ENVS)), max_size=3)
)
def test_running_containers_survive(started: dict[str, Started]) -> None:
    disk = MemoryDisk()
    write_containers(disk, started)
    assert read_containers(disk) == started


def test_an_empty_disk_is_a_new_node() -> None:
    assert read_devices(MemoryDisk()) == Devices({}, frozenset(), ())
    assert read_containers(MemoryDisk()) == {}


def test_the_file_has_the_layout_of_the_kubelets() -> None:
    disk = MemoryDisk()
    write_devices(disk, Devices({"r": {"d": True}}, frozenset({"r"}), (Holding("u", "c", "r", ("d",), {}),)))
    document = json.loads(disk.files[DEVICES_FILE])
    assert set(document) == {"Data", "Checksum"}
    assert document["Data"]["RegisteredDevices"] == {"r": ["d"]}
    entry = {"PodUID": "u", "ContainerName": "c", "ResourceName": "r", "DeviceIDs": {"-1": ["d"]}, "Envs": {}}
    assert document["Data"]["PodDeviceEntries"] == [entry]


def test_a_flipped_bit_is_noticed() -> None:
    disk = MemoryDisk()
    write_devices(disk, Devices({"r": {}}, frozenset(), (Holding("u", "c", "r", ("d1",), {}),)))
    disk.files[DEVICES_FILE] = disk.files[DEVICES_FILE].replace(b"d1", b"d2")
    with pytest.raises(UnusableCheckpointError, match=f"{DEVICES_FILE}: checksum"):
        read_devices(disk)


def test_a_list_of_containers_in_another_form_is_refused() -> None:
    disk = MemoryDisk()
    disk.files[CONTAINERS_FILE] = b"no JSON"
    with pytest.raises(UnusableCheckpointError, match=CONTAINERS_FILE):
        read_containers(disk)
