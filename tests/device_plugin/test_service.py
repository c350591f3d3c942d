"""The plugin of one node as others see it: its lists, its node object, and the events that it takes."""

from gpuyard import vocabulary
from gpuyard.annotations import read_inventory
from gpuyard.writes import JSON
from gpuyard_device_plugin.config import PluginConfig
from gpuyard_device_plugin.ports import PluginSpec
from tests.device_plugin.fakes import NODE, gpus, pod
from tests.device_plugin.world import World


def test_a_sick_gpu_is_listed_as_such_until_it_recovers() -> None:
    world = World()
    before = world.plugin.devices(vocabulary.GPU)
    world.report(3)
    assert [d.health for d in world.plugin.devices(vocabulary.GPU)].index("Unhealthy") == 3
    world.report()
    assert world.plugin.devices(vocabulary.GPU) == before


def test_a_change_of_health_wakes_whoever_streams_the_list() -> None:
    world = World()
    woken = []

    async def stream() -> None:
        woken.append(await world.plugin.changed.wait())

    world.steps.spawn(stream(), "stream")
    world.settle()
    world.report(0)
    world.settle()
    assert woken == [True]


def test_the_node_says_what_is_so_and_is_written_only_when_it_does_not() -> None:
    world = World()
    world.run(world.plugin.publish())
    node = world.api.objects[f"/api/v1/nodes/{NODE}"]
    inventory = read_inventory(node["metadata"]["annotations"][vocabulary.INVENTORY])
    assert inventory is not None
    assert [gpu.uuid for gpu in inventory.gpus] == world.ids(*range(8))
    assert node["metadata"]["labels"]["nvidia.com/gpu.count"] == "8"
    world.plugin.observe("nodes", "MODIFIED", node)
    world.run(world.plugin.publish())
    world.settle()
    assert len(world.api.writes) == 1


def test_health_reaches_the_inventory() -> None:
    world = World()
    world.run(world.plugin.publish())
    world.report(2)
    world.settle()
    notes = world.api.objects[f"/api/v1/nodes/{NODE}"]["metadata"]["annotations"]
    inventory = read_inventory(notes[vocabulary.INVENTORY])
    assert inventory is not None
    assert [gpu.index for gpu in inventory.gpus if not gpu.healthy] == [2]


def test_pods_of_other_nodes_and_objects_that_are_none_do_no_harm() -> None:
    world = World()
    elsewhere = pod("elsewhere")
    elsewhere["spec"]["nodeName"] = "node-2"
    broken: JSON = {"metadata": {"uid": 1}, "spec": {"nodeName": NODE, "containers": [None]}}
    world.plugin.replace("pods", [elsewhere, broken, {}])
    world.plugin.observe("pods", "ADDED", broken)
    world.plugin.observe("secrets", "ADDED", {})
    world.admit(pod("a"))


def test_what_the_configuration_says_in_vain_is_told_at_the_start_and_at_a_change() -> None:
    config = PluginConfig(ignored=("sharing.timeSlicing.resources[0].devices is ignored",))
    world = World(PluginSpec(NODE, gpus(2), config))
    line = f"{NODE}: {config.ignored[0]}"
    assert world.told == [line]
    world.plugin.reconfigure(PluginSpec(NODE, gpus(1), config))
    world.settle()
    assert world.told.count(line) == 2
