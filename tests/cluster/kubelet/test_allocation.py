"""Which devices a container gets, and what its plugin has to say of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.service import Kubelet
from tests.cluster.kubelet.counting_plugin import CountingPlugin, listed
from tests.cluster.kubelet.world import GPU, MACHINE, World


def test_free_ids_are_handed_out_in_no_particular_order() -> None:
    taken = set()
    for seed in range(8):
        world = World(plugin=False)
        world.kubelet.stop()
        world.kubelet = Kubelet(MACHINE, world.api, world.steps, MemoryDisk(), seed=seed)
        world.kubelet.start()
        world.api.attach(world.kubelet)
        world.register()
        world.run("one", 1)
        taken |= set(world.ids("one"))
    assert len(taken) > 1


def test_the_plugin_may_prefer_devices() -> None:
    world = World(prefers=True)
    world.run("one", 1)
    world.run("two", 2)
    assert (world.ids("one"), world.ids("two")) == (["d0"], ["d1", "d2"])
    assert sorted(world.plugin.asked[1].available_deviceIDs) == ["d1", "d2", "d3"]


@pytest.mark.parametrize("preferred", [["unknown", "d0", "d0", "taken", "sick"], [], ["d9"] * 9])
def test_of_what_is_preferred_only_available_devices_are_used(preferred: Sequence[str]) -> None:
    world = World(plugin=False)
    world.plugin = CountingPlugin(world.steps, lambda wanted: preferred)
    world.register("taken")
    world.run("holder", 1)
    world.kubelet.devices(GPU, listed("taken", "d0", "d1", sick=["sick"]))
    world.run("one", 2)
    assert world.ids("one") == ["d0", "d1"]


def test_pod_resources_shows_exactly_the_pod_in_hand_last() -> None:
    world = World(prefers=True)
    world.run("first", 1)
    shown: list[Any] = []
    world.plugin.on_preferred = lambda: shown.extend(
        (found.name, [device for part in found.containers[0].devices for device in part.device_ids])
        for found in world.kubelet.pod_resources().pod_resources
    )
    world.run("second", 1)
    assert shown == [("first", ["d0"]), ("second", [])]


def test_a_container_uses_its_init_containers_devices_again() -> None:
    world = World(prefers=True)
    init = {"name": "prepare", "resources": {"limits": {GPU: "1"}}}
    world.run("one", 2, initContainers=[init])
    status = world.api.pod("one")["status"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert "allocatedResourcesStatus" not in status["initContainerStatuses"][0]
    assert world.ids("one") == ["d0", "d1"]
    assert list(world.plugin.asked[1].must_include_deviceIDs) == ["d0"]
    world.run("two", 2)
    assert world.ids("two") == ["d2", "d3"]


def test_an_app_container_served_by_init_devices_alone_prefers_nothing() -> None:
    world = World(prefers=True)
    init = {"name": "prepare", "resources": {"limits": {GPU: "2"}}}
    world.run("one", 1, initContainers=[init])
    assert len(world.plugin.asked) == 1
    assert len(world.plugin.allocated) == 2
    assert set(world.ids("one")) < {"d0", "d1"}


def test_a_sidecars_device_is_used_by_nobody_else(world: World) -> None:
    sidecar = {"name": "proxy", "restartPolicy": "Always", "resources": {"limits": {GPU: "2"}}}
    world.run("one", 2, initContainers=[sidecar])
    assert set(world.plugin.allocated[0]).isdisjoint(world.plugin.allocated[1])
    (listed_pod,) = world.kubelet.pod_resources().pod_resources
    assert [container.name for container in listed_pod.containers] == ["proxy", "main"]
