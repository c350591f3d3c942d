"""Who holds which devices, as the node tells it.

Stands for the kubelet's PodResourcesLister. By what 1.36.3 was seen to do: one entry for each device id; no init
containers, but sidecars; pods without devices are listed; while a pod is being admitted it is the last in the list,
and its containers that are not served yet have no ids.
"""

from collections.abc import Iterable

from gpuyard.pods.amounts import ContainerKind, containers_of
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_device_plugin.kubelet_api.podresources_v1_pb2 import (
    ContainerDevices,
    ContainerResources,
    ListPodResourcesResponse,
    PodResources,
)


def listing(pods: Iterable[JSON], devices: Devices) -> ListPodResourcesResponse:
    """List: what each of the pods holds."""
    return ListPodResourcesResponse(pod_resources=[resources_of(pod, devices) for pod in pods])


def resources_of(pod: JSON, devices: Devices) -> PodResources:
    """Get: what one pod holds."""
    held: dict[str, list[ContainerDevices]] = {}
    for found in devices.of_pod(pod["metadata"]["uid"]):
        entries = [
            ContainerDevices(resource_name=found.resource, device_ids=[device]) for device in found.ids
        ]
        held.setdefault(found.container, []).extend(entries)
    return PodResources(
        name=pod["metadata"]["name"],
        namespace=pod["metadata"]["namespace"],
        containers=[
            ContainerResources(name=container["name"], devices=held.get(container["name"], []))
            for kind, container in containers_of(pod)
            if kind is not ContainerKind.INIT
        ],
    )
