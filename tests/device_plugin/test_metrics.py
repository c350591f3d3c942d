"""What a scraper reads of the device plugin is what has happened."""

import asyncio
from collections.abc import Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuyard import vocabulary
from gpuyard_device_plugin.allocating.tally import Outcome
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.pages import pages
from gpuyard_device_plugin.service import AllocationRefusedError
from tests.device_plugin.fakes import pod
from tests.device_plugin.world import World


def scraped(world: World) -> Mapping[str, float]:
    """Each sample by name and labels, as a scraper gets it."""
    page = asyncio.run(pages(world.plugin, lambda: True)["/metrics"]())  # type: ignore[arg-type]
    assert page.content_type.startswith("text/plain; version=")
    return {
        sample.name.removeprefix("gpuyard_device_plugin_")
        + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.body.decode())
        for sample in family.samples
    }


def test_allocations_are_counted_by_what_became_of_them() -> None:
    world = World()
    world.admit(pod("planned", {"train": 2}, {"train": world.ids(6, 3)}), pod("free", {"train": 1}))
    request = kubelet.AllocateRequest(
        container_requests=[kubelet.ContainerAllocateRequest(devices_ids=world.ids(6))]
    )
    with pytest.raises(AllocationRefusedError):
        world.run(world.plugin.allocate(vocabulary.GPU, request))
    found = scraped(world)
    outcomes = {
        name.split()[1]: value for name, value in found.items() if name.startswith("allocations_total")
    }
    assert outcomes == {Outcome.AS_PLANNED: 1, Outcome.UNPLANNED: 1, Outcome.REFUSED: 1}


def test_other_ids_than_the_planned_ones_are_told_apart() -> None:
    assert Outcome.of(("b", "a"), ("a", "b")) is Outcome.AS_PLANNED
    assert Outcome.of(("a", "c"), ("a", "b")) is Outcome.NOT_AS_PLANNED
    assert Outcome.of(("a",), ()) is Outcome.UNPLANNED


def test_devices_are_told_by_health() -> None:
    world = World()
    assert scraped(world)["devices Healthy nvidia.com/gpu"] == 8
    world.report(2)
    found = scraped(world)
    assert (found["devices Healthy nvidia.com/gpu"], found["devices Unhealthy nvidia.com/gpu"]) == (7, 1)
