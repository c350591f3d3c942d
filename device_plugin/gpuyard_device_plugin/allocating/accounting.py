"""What the plugin and the kubelet of a node say of who holds which devices, for an audit and for metrics.

Law: to ask changes nothing. The kubelet's List does: it drops the devices of pods that have ended, and works out anew
which devices are taken while the ids of a pod in Allocate are not among them, so that a List from outside of an
admission can give one device to two pods (seen on 1.36.3, also when somebody else listed). Its Get only reads
(pkg/kubelet/apis/podresources/server_v1.go), so each pod is asked for by name, whatever is being admitted meanwhile.
"""

from dataclasses import dataclass, field

from gpuyard.auditing.accounts import Holders, NodeAccounts
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard_device_plugin.allocating import wire
from gpuyard_device_plugin.allocating.node_pods import NodePod
from gpuyard_device_plugin.allocating.pod_devices import PodDevices
from gpuyard_device_plugin.ports import PodResources, PodResourcesError


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """A container that holds a device; empty where nobody does."""

    namespace: str = ""
    pod: str = ""
    container: str = ""
    limits: Limits = field(default=limits.NONE, compare=False)
    """How much of its GPU its pod's share may use."""


def holders(state: PodDevices) -> dict[str, set[Holder]]:
    """The containers that hold each device."""
    return {
        device: {_holder(state.pods[claim.uid], claim.container) for claim in claims}
        for device, claims in state.holders().items()
    }


def _holder(pod: NodePod, container: str) -> Holder:
    return Holder(pod.namespace, pod.name, container, pod.limits)


async def accounts(state: PodDevices, kubelet: PodResources) -> NodeAccounts:
    """What both say of the pods that have not ended and want GPUs. Of others nobody has to know."""
    own = _given(state)
    try:
        return NodeAccounts(own, await _listed(state, kubelet))
    except PodResourcesError as error:
        return NodeAccounts(own, None, str(error))


def _given(state: PodDevices) -> Holders:
    found: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for pod in state.pods.values():
        for want in pod.wants:
            if ids := state.held(pod.uid, want.container, want.resource):
                found.setdefault(pod.uid, {}).setdefault(want.container, {})[want.resource] = ids
    return found


async def _listed(state: PodDevices, kubelet: PodResources) -> Holders:
    wanting = [pod for pod in state.pods.values() if pod.wants and not pod.ended]
    answers = {pod.uid: await kubelet.get(pod.namespace, pod.name) for pod in wanting}
    return {
        uid: {container: ids for container, ids in wire.held(answer).items() if ids} if answer else {}
        for uid, answer in answers.items()
    }
