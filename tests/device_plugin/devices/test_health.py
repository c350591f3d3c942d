"""A GPU is as healthy as the XIDs on its node say: NVIDIA's list, recovery, flapping, and nonsense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_device_plugin.devices import health
from gpuyard_device_plugin.devices.health import OF_APPLICATIONS, Driver, Policy
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as kubelet_grpc
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.server import ResourceServer
from gpuyard_device_plugin.service import DevicePlugin
from gpuyard_kube.runtime import AsyncioRuntime
from tests.device_plugin.fakes import NODE, MemoryApi, TinyKubelet, gpus, pod, sliced
from tests.device_plugin.grpc_kubelet import GrpcKubelet, short_folder
from tests.device_plugin.world import World

SICK = "Unhealthy"


def node(**xids: str) -> JSON:
    """`gpu3="79"`: GPU 3 has XID 79."""
    notes = {f"gpuyard.io/xid-{name.removeprefix('gpu')}": text for name, text in xids.items()}
    return {"metadata": {"name": NODE, "annotations": {"other": "1", **notes}}}


def sick(world: World) -> list[int]:
    listed = world.plugin.devices(vocabulary.GPU)
    return [number for number, device in enumerate(listed) if device.health == SICK]


def see(world: World, said: JSON) -> None:
    world.plugin.observe("nodes", "MODIFIED", said)
    world.settle()


@pytest.fixture
def world() -> World:
    return World()


def test_a_gpu_with_an_xid_is_sick_until_the_annotation_goes(world: World) -> None:
    see(world, node(gpu3="79"))
    assert (sick(world), dict(world.plugin.xids)) == ([3], {3: 79})
    see(world, node())
    assert (sick(world), dict(world.plugin.xids)) == ([], {})


@pytest.mark.parametrize("xid", sorted(OF_APPLICATIONS))
def test_what_a_program_did_is_told_and_changes_nothing(xid: int, world: World) -> None:
    see(world, node(gpu0=str(xid)))
    assert (sick(world), dict(world.plugin.xids)) == ([], {0: xid})


@pytest.mark.parametrize(
    ("disabled", "enabled", "counting"),
    [
        ("", "", {48, 79, 94}),
        ("94, 48", "", {79}),
        ("", "13,109", {13, 48, 79, 94, 109}),
        ("all", "", set()),
        ("XIDS", "79", {79}),
        ("79", "79", {48, 79, 94}),
    ],
)
def test_xids_can_be_turned_off_and_on_as_with_nvidias_plugin(
    disabled: str, enabled: str, counting: set[int]
) -> None:
    policy = health.policy(disabled, enabled)
    assert {xid for xid in (13, 48, 79, 94, 109) if policy.makes_sick(xid)} == counting


@pytest.mark.parametrize(("disabled", "enabled"), [("x", ""), ("", "all"), ("-1", ""), ("1.5", "")])
def test_what_is_no_xid_cannot_be_turned_off_or_on(disabled: str, enabled: str) -> None:
    with pytest.raises(ValueError, match="is no XID"):
        health.policy(disabled, enabled)


def test_all_shares_of_a_gpu_fall_sick_with_it() -> None:
    world = World(PluginSpec(NODE, gpus(2), sliced(3)))
    see(world, node(gpu1="79"))
    assert sick(world) == [3, 4, 5]


def test_a_plugin_without_memory_finds_the_fault_on_its_node(world: World) -> None:
    see(world, node(gpu3="79"))
    world.start()
    world.plugin.replace("nodes", [node(gpu3="79")])
    world.settle()
    assert sick(world) == [3]


def test_a_node_that_is_gone_says_nothing_new(world: World) -> None:
    see(world, node(gpu3="79"))
    world.plugin.observe("nodes", "DELETED", node(gpu3="79"))
    world.settle()
    assert sick(world) == [3]


def test_a_gpu_that_comes_later_is_sick_if_the_node_said_so_before() -> None:
    world = World(PluginSpec(NODE, gpus(2)))
    see(world, node(gpu3="79"))
    assert sick(world) == []
    world.plugin.reconfigure(PluginSpec(NODE, gpus(4)))
    world.settle()
    assert sick(world) == [3]
    see(world, node())
    assert sick(world) == []


def test_who_holds_a_gpu_that_fails_keeps_it_and_gets_no_second_owner(world: World) -> None:
    holder = pod("a", {"train": 1}, {"train": world.ids(3)})
    world.admit(holder)
    see(world, node(gpu3="79"))
    assert world.indexes(holder) == [3]
    world.admit(other := pod("b", {"train": 7}))
    assert world.indexes(other) == [0, 1, 2, 4, 5, 6, 7]


def test_nonsense_is_told_once_and_harms_nobody(world: World) -> None:
    broken = node(gpu1="79", gpu2="fell off", gpux="79", gpu9="79", gpu4="9" * 5000)
    broken["metadata"]["annotations"]["gpuyard.io/xid-5"] = None
    see(world, broken)
    told = [line for line in world.told if "gpuyard.io/xid" in line]
    assert sick(world) == [1]
    assert len(told) == 5
    assert f"{NODE}: gpuyard.io/xid-9: the node has no GPU 9" in told
    see(world, broken)
    assert [line for line in world.told if "gpuyard.io/xid" in line] == told


@given(st.lists(st.dictionaries(st.integers(0, 3), st.sampled_from([13, 48, 79]))))
def test_after_any_flapping_a_gpu_is_as_healthy_as_its_node_says_and_only_news_are_told(
    story: list[dict[int, int]],
) -> None:
    driver, before = Driver(), gpus(4)
    for xids in story:
        said = node(**{f"gpu{index}": str(xid) for index, xid in xids.items()})
        assert driver.hear(said, gpus(4)) == []
        after = driver.seen(gpus(4))
        changed = [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        assert [int(line.split()[1]) for line in health.news(before, after)] == changed
        assert {gpu.index for gpu in after if not gpu.healthy} == {
            index for index, xid in xids.items() if Policy().makes_sick(xid)
        }
        before = after


def test_a_whole_node_fails_with_every_gpu_it_has_or_gets(world: World) -> None:
    see(world, node(gpuall="79", gpu1="13"))
    assert (sick(world), dict(world.plugin.xids)) == (list(range(8)), dict.fromkeys(range(8), 79))
    world.plugin.reconfigure(PluginSpec(NODE, gpus(9)))
    world.settle()
    assert sick(world) == list(range(9))
    see(world, node(gpu1="13"))
    assert (sick(world), dict(world.plugin.xids)) == ([], {1: 13})


def test_a_whole_node_with_the_xid_of_an_application_is_as_good_as_before(world: World) -> None:
    see(world, node(gpuall="43"))
    assert sick(world) == []


async def test_gpus_that_fail_together_are_one_update_for_the_kubelet() -> None:
    ports = Ports(MemoryApi(), AsyncioRuntime(), TinyKubelet())
    plugin, seen = DevicePlugin(PluginSpec(NODE, gpus(4)), ports), []
    async with short_folder() as folder:
        server = ResourceServer(plugin, vocabulary.GPU, folder)
        await server.start()
        async with GrpcKubelet(folder).call(server.endpoint) as channel:
            stream = kubelet_grpc.DevicePluginStub(channel).ListAndWatch(kubelet.Empty())
            for said in (
                node(),
                node(gpu0="79", gpu2="79"),
                node(gpu0="48", gpu2="79", gpu3="13"),
                node(),
            ):
                plugin.observe("nodes", "MODIFIED", said)
                if said != node(gpu0="48", gpu2="79", gpu3="13"):
                    devices = (await stream.read()).devices
                    seen.append([number for number, found in enumerate(devices) if found.health == SICK])
            stream.cancel()
        await server.stop()
    assert seen == [[], [0, 2], []]
