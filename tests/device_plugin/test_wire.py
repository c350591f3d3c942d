"""The kubelet's messages and the plugin's values say the same."""

from gpuyard import vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard_device_plugin import wire
from gpuyard_device_plugin.choice import Offer
from gpuyard_device_plugin.devices import DeviceTable
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_device_plugin.pod_devices import Listed
from tests.device_plugin.fakes import gpus

GPU = vocabulary.GPU


def test_a_device_has_id_health_and_numa_node() -> None:
    table = DeviceTable.of(Inventory(gpus(2, healthy=False)))
    found = wire.device_list(table, GPU)
    assert [device.ID for device in found] == list(table.by_id)
    assert {device.health for device in found} == {"Unhealthy"}
    assert [device.topology.nodes[0].ID for device in found] == [0, 1]


def test_an_offer_keeps_all_that_was_asked() -> None:
    request = kubelet.ContainerPreferredAllocationRequest(
        available_deviceIDs=["b", "a"], must_include_deviceIDs=["a"], allocation_size=2
    )
    assert wire.offer(GPU, request) == Offer(GPU, ("b", "a"), ("a",), 2)


def test_listed_pods_keep_gpu_devices_only_one_entry_for_each_id() -> None:
    def held(resource: str, device: str) -> podresources.ContainerDevices:
        return podresources.ContainerDevices(resource_name=resource, device_ids=[device])

    devices = [held(GPU, "0"), held("example.com/nic", "eth1"), held(GPU, "1")]
    containers = [
        podresources.ContainerResources(name="train", devices=devices),
        podresources.ContainerResources(name="log"),
    ]
    pod = podresources.PodResources(name="a", namespace="default", containers=containers)
    found = wire.listed(podresources.ListPodResourcesResponse(pod_resources=[pod]))
    assert found == [Listed("default", "a", {"train": {GPU: ("0", "1")}, "log": {}})]


def test_answers_carry_the_ids() -> None:
    assert list(wire.preferred(("b", "a")).deviceIDs) == ["b", "a"]
