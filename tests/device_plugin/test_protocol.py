"""Whatever a kubelet may ask, also what none has asked yet: an answer or a refusal, and a refusal leaves no trace."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.ports import PluginSpec
from gpuyard_device_plugin.service import AllocationRefusedError
from tests.device_plugin.fakes import NODE, gpus, pod, sliced
from tests.device_plugin.world import World

GPU = vocabulary.GPU
IDS = [gpu.uuid for gpu in gpus(4)]
HELD, SICK, FREE, OTHER = IDS


def asking(*containers: list[str]) -> kubelet.AllocateRequest:
    requests = [kubelet.ContainerAllocateRequest(devices_ids=ids) for ids in containers]
    return kubelet.AllocateRequest(container_requests=requests)


def busy() -> World:
    """GPU 0 is held by a live pod, GPU 1 is sick."""
    world = World(PluginSpec(NODE, gpus(4)))
    world.admit(pod("holder", {"train": 1}, {"train": [HELD]}))
    world.report(1)
    return world


@pytest.mark.parametrize(
    ("containers", "code", "said"),
    [
        ([[]], "InvalidArgument", "no device named"),
        ([[FREE, FREE]], "InvalidArgument", "device named 2 times"),
        ([[FREE], [FREE]], "InvalidArgument", "device named 2 times"),
        ([[FREE, OTHER], [OTHER]], "InvalidArgument", "device named 2 times"),
        ([["GPU-x"]], "InvalidArgument", "unknown device: GPU-x"),
        ([[SICK]], "FailedPrecondition", "unhealthy device"),
        ([[HELD]], "FailedPrecondition", "is held by pod default/holder, container train"),
        ([[FREE], [HELD]], "FailedPrecondition", "is held by pod default/holder, container train"),
        ([[FREE], []], "InvalidArgument", "no device named"),
    ],
)
def test_what_cannot_be_given_is_refused_with_a_reason_and_nothing_has_changed(
    containers: list[list[str]], code: str, said: str
) -> None:
    world = busy()
    before, served = world.state(), world.plugin.devices(GPU)
    with pytest.raises(AllocationRefusedError) as refused:
        world.run(world.plugin.allocate(GPU, asking(*containers)))
    assert (refused.value.refusal.reason.code, said in str(refused.value)) == (code, True)
    assert (world.state(), world.plugin.devices(GPU)) == (before, served)


def test_several_containers_in_one_request_get_an_answer_each() -> None:
    world = busy()
    answer = world.run(world.plugin.allocate(GPU, asking([FREE], [OTHER])))
    named = [dict(found.envs)["NVIDIA_VISIBLE_DEVICES"] for found in answer.container_responses]
    assert named == [FREE, OTHER]


def test_who_asks_for_nobody_gets_nothing() -> None:
    world = busy()
    assert list(world.run(world.plugin.allocate(GPU, asking())).container_responses) == []
    nobody = kubelet.PreferredAllocationRequest()
    assert list(world.run(world.plugin.preferred(GPU, nobody)).container_responses) == []


KNOWN = st.sampled_from([*IDS, "GPU-x"])


@settings(max_examples=60, deadline=None)
@given(
    offered=st.lists(KNOWN, max_size=6),
    must=st.lists(st.sampled_from(IDS), max_size=3, unique=True),
    size=st.integers(-2, 6),
    replicas=st.sampled_from([1, 3]),
)
def test_a_preference_is_always_a_part_of_the_offer_and_never_larger_than_asked(
    offered: list[str], must: list[str], size: int, replicas: int
) -> None:
    config = sliced(replicas) if replicas > 1 else PluginSpec(NODE, ()).config
    world = World(PluginSpec(NODE, gpus(4), config))
    suffix = "::1" if replicas > 1 else ""
    available, needed = [found + suffix for found in [*offered, *must]], [found + suffix for found in must]
    asked = kubelet.ContainerPreferredAllocationRequest(
        available_deviceIDs=available, must_include_deviceIDs=needed, allocation_size=size
    )
    request = kubelet.PreferredAllocationRequest(container_requests=[asked])
    [answer] = world.run(world.plugin.preferred(GPU, request)).container_responses
    found = list(answer.deviceIDs)
    assert set(found) <= set(available) - {"GPU-x" + suffix}
    assert len(found) == len(set(found)) == min(max(size, 0), len(set(available) - {"GPU-x" + suffix}))
    assert set(needed) <= set(found) or len(needed) > size


def test_a_gpu_tells_its_numa_node_and_so_do_its_shares() -> None:
    for config, each in ((PluginSpec(NODE, ()).config, 1), (sliced(2), 2)):
        world = World(PluginSpec(NODE, gpus(4), config))
        listed = world.plugin.devices(GPU)
        assert [[node.ID for node in device.topology.nodes] for device in listed] == [
            *[[0]] * (2 * each),
            *[[1]] * (2 * each),
        ]


@given(st.lists(st.sets(st.integers(0, 3)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_whatever_happens_the_list_keeps_every_device_once(story: list[set[int]]) -> None:
    world = World(PluginSpec(NODE, gpus(4)))
    for sick in story:
        world.report(*sick)
        assert [device.ID for device in world.plugin.devices(GPU)] == IDS
