"""Between the kubelet's messages and the plugin's values: the only core module that knows both.

Stands for the conversion half of NVIDIA's internal/rm and of the kubelet's podresources server.
"""

from collections.abc import Iterable

from gpuyard.hardware.inventory import Device
from gpuyard.pods.requests import is_device_resource
from gpuyard_device_plugin.allocating.choice import Offer
from gpuyard_device_plugin.allocating.pod_devices import Listed
from gpuyard_device_plugin.containers.grants import Grant
from gpuyard_device_plugin.devices.devices import DeviceTable
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources

HEALTHY, UNHEALTHY = "Healthy", "Unhealthy"


def device_list(table: DeviceTable, resource: str, lost: Iterable[Device] = ()) -> list[kubelet.Device]:
    """The devices of a resource for ListAndWatch, then those that are no more.

    A MIG device hangs on its GPU's NUMA node.
    """
    numa = {gpu.index: gpu.numa for gpu in table.inventory.gpus}
    there = [_device(device, numa[device.gpu]) for device in table.of_resource(resource)]
    return [*there, *(kubelet.Device(ID=device.id, health=UNHEALTHY) for device in lost)]


def offer(resource: str, request: kubelet.ContainerPreferredAllocationRequest) -> Offer:
    available, must = tuple(request.available_deviceIDs), tuple(request.must_include_deviceIDs)
    # The field is signed: nobody is lacking less than nothing.
    return Offer(resource, available, must, max(request.allocation_size, 0))


def preferred(ids: Iterable[str]) -> kubelet.ContainerPreferredAllocationResponse:
    return kubelet.ContainerPreferredAllocationResponse(deviceIDs=ids)


def allocated(grant: Grant) -> kubelet.ContainerAllocateResponse:
    return kubelet.ContainerAllocateResponse(
        envs=grant.envs,
        mounts=[
            kubelet.Mount(container_path=inside, host_path=outside, read_only=True)
            for inside, outside in grant.mounts.items()
        ],
        annotations=grant.annotations,
        cdi_devices=[kubelet.CDIDevice(name=name) for name in grant.cdi_devices],
    )


def listed(response: podresources.ListPodResourcesResponse) -> list[Listed]:
    """The pods that the kubelet lists, with the GPU devices of their containers."""
    return [Listed(pod.namespace, pod.name, held(pod)) for pod in response.pod_resources]


def held(pod: podresources.PodResources) -> dict[str, dict[str, tuple[str, ...]]]:
    """container -> resource -> ids. The kubelet writes one entry for each id."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for container in pod.containers:
        given = found.setdefault(container.name, {})
        for entry in container.devices:
            if is_device_resource(entry.resource_name):
                given[entry.resource_name] = (*given.get(entry.resource_name, ()), *entry.device_ids)
    return found


def _device(device: Device, numa: int) -> kubelet.Device:
    return kubelet.Device(
        ID=device.id,
        health=HEALTHY if device.healthy else UNHEALTHY,
        topology=kubelet.TopologyInfo(nodes=[kubelet.NUMANode(ID=numa)]),
    )
