"""The kubelet at work: events and plugins in, one admission after the other, status out.

Stands for the kubelet's sync loop. It lives on the Pods of its node, its Node and its disk; its memory may be lost at
any moment. Two loops run: one admits pods, serially, since a plugin may take its time; the other writes.
"""

from collections.abc import Iterable
from random import Random

from gpuyard.narration import Beat, Narrator, silent
from gpuyard.writes import JSON, Write
from gpuyard_cluster.kubelet import admission, containers, node_status, pod_lifecycle, pod_resources
from gpuyard_cluster.kubelet.agenda import Agenda
from gpuyard_cluster.kubelet.allocation import DeviceAllocator, PluginClient
from gpuyard_cluster.kubelet.checkpoint import Disk, Started
from gpuyard_cluster.kubelet.node_pods import NodePods
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import Device
from gpuyard_device_plugin.kubelet_api.podresources_v1_pb2 import ListPodResourcesResponse
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

RETRY_SECONDS = 1.0
"""After a write that the API server failed to do."""
PLUGIN_GRACE_SECONDS = 300.0
"""How long the devices of a plugin that is gone still count in the node's capacity (endpointStopGracePeriod)."""
_NODE = ""  # stands beside pod UIDs for the node itself


class Kubelet:
    """A `gpuyard_kube.api.Observer` of "pods" and "nodes"; those of other nodes do not matter to it."""

    def __init__(
        self,
        machine: Machine,
        api: Api,
        runtime: Runtime,
        disk: Disk,
        *,
        seed: int,
        narrate: Narrator = silent,
    ) -> None:
        self._machine, self._api, self._runtime, self._narrate = machine, api, runtime, narrate
        self._allocator = DeviceAllocator(disk, Random(f"{seed} {machine.name}"), self._tell)
        self._pods = NodePods(machine.name, disk, self._tell)
        self._node: JSON | None = None
        self._registered = self._stopped = False
        self._plugin_gone_at: dict[str, float] = {}
        self._agenda = Agenda()
        self._arrived, self._changed = runtime.signal(), runtime.signal()

    def start(self) -> None:
        """Register the node and begin to work."""
        self._look_at(_NODE)
        self._runtime.spawn(self._admit_pods(), f"kubelet {self._machine.name} admission")
        self._runtime.spawn(self._write(), f"kubelet {self._machine.name} status")

    def stop(self) -> None:
        """As if the process had died: nothing is decided or written any more."""
        self._stopped = True
        self._allocator.stop()
        self._arrived.fire()
        self._changed.fire()

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All pods or nodes as of now."""
        if resource == "pods":
            self._look_at(*self._pods.replace(objects))
            self._settle()
        elif resource == "nodes":
            named = [node for node in objects if node["metadata"]["name"] == self._machine.name]
            self._set_node(named[0] if named else None)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of a pod or node."""
        if resource == "pods" and self._pods.observe(event, obj):
            self._look_at(obj["metadata"]["uid"])
            self._settle()
        elif resource == "nodes" and obj["metadata"]["name"] == self._machine.name:
            self._set_node(None if event == "DELETED" else obj)

    async def plugin_registered(self, resource: str, client: PluginClient) -> None:
        """A device plugin registered; its list is to follow. PluginError when it does not answer."""
        await self._allocator.register(resource, client)
        self._plugin_gone_at.pop(resource, None)
        self._tell(f"device plugin registered for {resource}")
        self._look_at(_NODE)

    def devices(self, resource: str, devices: Iterable[Device]) -> None:
        """A plugin's complete list of devices."""
        self._allocator.listed(resource, devices)
        self._plugin_gone_at.pop(resource, None)
        state = self._allocator.state
        self._tell(f"{len(state.healthy(resource))} of {state.capacity(resource)} {resource} are healthy")
        self._look_at(_NODE, *{held.pod for held in state.holdings if held.resource == resource})

    def plugin_gone(self, resource: str) -> None:
        """A plugin's stream ended: none of its devices can be given out."""
        self._allocator.plugin_gone(resource)
        self._plugin_gone_at[resource] = self._runtime.now()
        self._tell(f"device plugin for {resource} is gone")
        self._look_at(_NODE)

    def pod_resources(self) -> ListPodResourcesResponse:
        """PodResourcesLister.List."""
        return pod_resources.listing(self._pods.active(), self._allocator.state)

    def logs(self, namespace: str, pod: str, container: str) -> str:
        """What the container printed: its environment, sorted, as KEY=value lines. NoLogsError names why not."""
        return containers.printed(self._pods.environment(namespace, pod, container))

    def _set_node(self, node: JSON | None) -> None:
        self._node = node
        self._registered = self._registered or node is not None
        self._arrived.fire()
        self._look_at(_NODE)

    def _settle(self) -> None:
        """The set of pods may have changed: free what nobody holds any more, and see who is to be admitted."""
        holders = self._pods.holders()
        if holders is not None:
            self._allocator.release(holders)
        self._arrived.fire()

    async def _admit_pods(self) -> None:
        while not self._stopped:
            pod = self._pods.next_to_admit() if self._node else None
            if pod is None or self._node is None:
                await self._arrived.wait(None)
            else:
                await self._admit(pod, self._node)

    async def _admit(self, pod: JSON, node: JSON) -> None:
        refusal = await admission.judge(pod, node, self._pods.admitted(), self._allocator)
        if self._stopped:
            return
        uid = pod["metadata"]["uid"]
        if refusal is None:
            held = self._allocator.state.of_pod(uid)
            self._pods.start(uid, Started(self._runtime.now(), containers.environments(pod, held)))
            told = "; ".join(["admitted", *(str(found) for found in held)])
        else:
            self._pods.refuse(uid, refusal)
            told = refusal.message
        for line in [told, *pod_lifecycle.ignored_annotations(pod)]:
            self._tell(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}: {line}")
        self._look_at(uid)
        self._settle()

    async def _write(self) -> None:
        while not self._stopped:
            key = self._agenda.pop(self._runtime.now())
            if key is None:
                await self._changed.wait(self._agenda.next_at())
            elif (write := self._next_write(key)) is not None:
                await self._send(key, write)

    async def _send(self, key: str, write: Write) -> None:
        reply = await self._api.send(write)
        if reply.status >= 500:
            self._agenda.add_later(self._runtime.now() + RETRY_SECONDS, key)
        elif not reply.ok and reply.status not in (404, 409):
            self._tell(f"{write.method} {write.path}: {reply.reason}")

    def _next_write(self, key: str) -> Write | None:
        return self._next_node_write() if key == _NODE else self._next_pod_write(key)

    def _next_pod_write(self, uid: str) -> Write | None:
        pod, now = self._pods.get(uid), self._runtime.now()
        if pod is None or self._pods.admitting(uid):
            return None
        record = self._pods.record(uid)
        end = pod_lifecycle.planned_end(pod, record.started) if record.started else None
        if end is not None and end.at > now:
            self._agenda.add_later(end.at, uid)
        return pod_lifecycle.next_write(pod, record, self._allocator.state, self._machine.address, now)

    def _next_node_write(self) -> Write | None:
        now = self._runtime.now()
        for resource, gone_at in list(self._plugin_gone_at.items()):
            if gone_at + PLUGIN_GRACE_SECONDS <= now:
                del self._plugin_gone_at[resource]
                self._allocator.forget(resource)
            else:
                self._agenda.add_later(gone_at + PLUGIN_GRACE_SECONDS, _NODE)
        if self._node is not None:
            return node_status.update(self._machine, self._allocator.state, self._node, now)
        # A node that was deleted comes back with its kubelet's next start, as with the real one.
        return (
            None if self._registered else node_status.registration(self._machine, self._allocator.state, now)
        )

    def _look_at(self, *keys: str) -> None:
        for key in keys:
            self._agenda.add(key)
        self._changed.fire()

    def _tell(self, text: str) -> None:
        self._narrate(Beat(f"kubelet {self._machine.name}", text))
