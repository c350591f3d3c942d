"""Plugin and kubelet over real gRPC on unix sockets: registered for as long as both live, whatever happens."""

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.devices import advertised
from gpuyard_device_plugin.ports import PluginSpec
from tests.device_plugin.fakes import NODE, gpus, report
from tests.device_plugin.scenes import ENDPOINT, GPU, scene, sockets, until

RENAMED = PluginConfig(sharing=Sharing(SharingMode.TIME_SLICING, 4, renamed=True))


async def test_it_registers_under_the_rules_of_the_api_and_sends_the_whole_list() -> None:
    async with scene() as found:
        await found.registered(1)
        request = found.kubelet.registrations[0]
        assert (request.version, request.endpoint, request.resource_name) == ("v1beta1", ENDPOINT, GPU)
        assert found.kubelet.options[GPU].get_preferred_allocation_available
        assert found.kubelet.lists[GPU] == [found.plugin.devices(GPU)]


async def test_it_is_ready_while_the_kubelet_watches_and_no_longer() -> None:
    async with scene(started=False) as found:
        await until((found.kubelet.folder / ENDPOINT).exists)
        assert not found.shell.ready
        await found.kubelet.start()
        await found.kubelet.until(lambda: found.shell.ready)
        await found.stop()
        assert not found.shell.ready


async def test_a_change_of_health_is_one_more_full_list() -> None:
    async with scene() as found:
        await found.registered(1)
        report(found.plugin, 1)
        await found.kubelet.until(lambda: len(found.kubelet.lists[GPU]) == 2)
        assert [device.health for device in found.kubelet.lists[GPU][1]] == ["Healthy", "Unhealthy"]
        assert len(found.kubelet.registrations) == 1


async def test_it_tries_again_when_the_kubelet_refuses() -> None:
    async with scene(started=False) as found:
        found.kubelet.refuse = True
        await found.kubelet.start()
        await found.registered(1)
        assert not found.kubelet.refuse


async def test_a_kubelet_that_starts_anew_gets_the_same_devices_from_a_new_socket() -> None:
    async with scene() as found:
        await found.registered(1)
        await found.kubelet.stop()
        await found.kubelet.start()
        await found.registered(2)
        assert found.kubelet.lists[GPU][0] == found.kubelet.lists[GPU][-1]
        assert ENDPOINT in sockets(found.kubelet.folder)
        await found.kubelet.until(lambda: found.plugin.tally.registrations[GPU] == 2)


async def test_a_stream_that_the_kubelet_ends_is_a_reason_to_register_again() -> None:
    async with scene() as found:
        await found.registered(1)
        await found.kubelet.hang_up(GPU)
        await found.registered(2)


async def test_another_configuration_brings_its_sockets_and_takes_those_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(advertised, "FORGET_SECONDS", 0.0)

    async with scene() as found:
        await found.registered(1)
        found.plugin.reconfigure(PluginSpec(NODE, gpus(2), RENAMED))
        await found.kubelet.until(lambda: bool(found.kubelet.lists.get(vocabulary.GPU_SHARED)))
        await found.kubelet.until(lambda: GPU in found.kubelet.ended)
        assert [device.ID for device in found.kubelet.lists[vocabulary.GPU_SHARED][-1]] == [
            f"{gpu.uuid}::{replica}" for gpu in gpus(2) for replica in range(4)
        ]
        await found.kubelet.until(lambda: ENDPOINT not in sockets(found.kubelet.folder))


async def test_a_kubelet_learns_that_it_is_to_ask_before_containers_start() -> None:
    """It reads the options when a plugin registers, and never again."""

    async with scene() as found:
        await found.registered(1)
        assert not found.kubelet.options[GPU].pre_start_required
        found.plugin.reconfigure(PluginSpec(NODE, gpus(2), PluginConfig(mig_strategy=MigStrategy.DYNAMIC)))
        await found.registered(2)
        await found.kubelet.until(lambda: found.kubelet.options[GPU].pre_start_required)
