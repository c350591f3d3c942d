"""The generated stubs speak to a real kubelet: paths and field numbers are upstream's."""

from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as deviceplugin
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources


def test_services_keep_the_names_that_are_part_of_every_path() -> None:
    services = [*deviceplugin.DESCRIPTOR.services_by_name.values()]
    services += podresources.DESCRIPTOR.services_by_name.values()
    names = {service.full_name for service in services}
    assert names == {"v1beta1.Registration", "v1beta1.DevicePlugin", "v1.PodResourcesLister"}


def test_fields_keep_their_numbers() -> None:
    """Bytes written out by hand: tag (number * 8 + 2), length, content."""
    topology = deviceplugin.TopologyInfo(nodes=[deviceplugin.NUMANode(ID=1)])
    device = deviceplugin.Device(ID="a", health="b", topology=topology)
    assert device.SerializeToString() == b"\x0a\x01a\x12\x01b\x1a\x04\x0a\x02\x08\x01"
    request = deviceplugin.RegisterRequest(version="a", endpoint="b", resource_name="c")
    assert request.SerializeToString() == b"\x0a\x01a\x12\x01b\x1a\x01c"
    held = podresources.ContainerDevices(resource_name="a", device_ids=["b"])
    assert held.SerializeToString() == b"\x0a\x01a\x12\x01b"
    container = podresources.ContainerResources(name="c")
    pod = podresources.PodResources(name="a", namespace="b", containers=[container])
    assert pod.SerializeToString() == b"\x0a\x01a\x12\x01b\x1a\x03\x0a\x01c"
