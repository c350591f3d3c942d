"""The kubelet's messages and the plugin's values say the same."""

from gpuyard import vocabulary
from gpuyard_device_plugin.allocating import wire
from gpuyard_device_plugin.allocating.pod_devices import Listed
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources

GPU = vocabulary.GPU


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
