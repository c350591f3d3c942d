"""What annotations say of links, and what they cannot say."""

import dataclasses

import pytest

from gpuyard import vocabulary
from gpuyard.annotations import read_inventory
from gpuyard.writes import JSON
from gpuyard_device_plugin.devices import driver_reports
from gpuyard_device_plugin.devices.health import Driver
from gpuyard_device_plugin.ports import PluginSpec
from tests.device_plugin.fakes import NODE, gpus, pod
from tests.device_plugin.world import World

LINKED = gpus(4, nvlink=0)


def node(**notes: str) -> JSON:
    """`nvlink_0_1="down"`: the link between GPUs 0 and 1 has failed."""
    written = {f"gpuyard.io/{key.replace('_', '-')}": text for key, text in notes.items()}
    return {"metadata": {"name": NODE, "annotations": written}}


def lost(*said: JSON) -> list[tuple[int, ...]]:
    driver = Driver()
    for one in said:
        driver.hear(one, LINKED)
    return [gpu.lost_links for gpu in driver.seen(LINKED)]


def test_both_ends_lose_a_link_that_fails_and_get_it_back() -> None:
    failed = node(nvlink_0_1="down", nvlink_2_1="down")
    assert lost(failed) == [(1,), (0, 2), (1,), ()]
    assert lost(failed, node(nvlink_0_1="down")) == [(1,), (0,), (), ()]
    assert lost(failed, node()) == [()] * 4


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("nvlink-0-0", "down"),
        ("nvlink-0", "down"),
        ("nvlink-0-1-2", "down"),
        ("nvlink-0-x", "down"),
        ("nvlink-0--1", "down"),
        ("nvlink-0-1", "up"),
        ("nvlink-0-1", ""),
        ("xid-every", "79"),
        ("xid-all", "x"),
        ("xid-0", ""),
    ],
)
def test_what_is_no_report_is_named_and_changes_nothing(key: str, text: str) -> None:
    said: JSON = {"metadata": {"annotations": {f"gpuyard.io/{key}": text}}}
    driver = Driver()
    [complaint] = driver.hear(said, LINKED)
    assert complaint.startswith(f"gpuyard.io/{key}: {text!r} is ignored; write gpuyard.io/")
    assert driver.seen(LINKED) == LINKED


def test_a_link_that_is_not_there_cannot_fail() -> None:
    bridged = (*gpus(2, nvlink=0), *(dataclasses.replace(gpu, nvlink=1) for gpu in gpus(4)[2:]))
    driver = Driver()
    told = driver.hear(node(nvlink_0_2="down", nvlink_0_9="down"), bridged)
    missing = [f"the node has no NVLink between GPU 0 and GPU {other}" for other in (2, 9)]
    assert told == [f"gpuyard.io/nvlink-0-{n}: {text}" for n, text in zip((2, 9), missing, strict=True)]
    assert driver.seen(bridged) == bridged
    assert Driver().hear(node(nvlink_0_1="down"), gpus(2)) != []


def test_a_node_object_of_any_shape_is_read() -> None:
    for found in ({}, {"metadata": None}, {"metadata": {"annotations": None}}):
        assert driver_reports.read(found) == driver_reports.Reports()


def test_the_node_says_which_links_have_failed_and_the_plugin_prefers_other_pairs() -> None:
    world = World(PluginSpec(NODE, gpus(4, nvlink=0)))
    world.run(world.plugin.publish())
    path = f"/api/v1/nodes/{NODE}"
    world.api.objects[path]["metadata"]["annotations"]["gpuyard.io/nvlink-0-1"] = "down"
    world.plugin.observe("nodes", "MODIFIED", world.api.objects[path])
    world.settle()
    inventory = read_inventory(world.api.objects[path]["metadata"]["annotations"][vocabulary.INVENTORY])
    assert inventory is not None
    assert [gpu.lost_links for gpu in inventory.gpus] == [(1,), (0,), (), ()]
    assert world.told[-2:] == [f"{NODE}: GPU {a}: lost NVLinks: GPU {b}" for a, b in ((0, 1), (1, 0))]
    world.admit(pair := pod("pair", {"train": 2}))
    assert world.indexes(pair) == [0, 2]
