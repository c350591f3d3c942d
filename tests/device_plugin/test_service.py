"""The plugin of one node as others see it: its lists, its node object, and the events that it takes."""

from gpuyard.writes import JSON
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.ports import PluginSpec
from tests.device_plugin.fakes import NODE, gpus, pod
from tests.device_plugin.world import World


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
