"""The kubelet at work: events and plugins in, one admission after the other, status out.

Stands for the kubelet's sync loop. It lives on the Pods of its node, its Node and its disk; its memory may be lost at
any moment. Two loops run: one admits pods, serially, since a plugin may take its time; the other writes.
"""

from collections.abc import Iterable
from random import Random

from gpuyard.narration import Beat, Narrator, silent
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet import admission, containers, pod_resources, runs
from gpuyard_cluster.kubelet.allocation import DeviceAllocator, PluginClient
from gpuyard_cluster.kubelet.checkpoint import Disk, Started
from gpuyard_cluster.kubelet.containers import Screen
from gpuyard_cluster.kubelet.heartbeats import Heart
from gpuyard_cluster.kubelet.node_pods import NodePods
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.own_node import OwnNode
from gpuyard_cluster.kubelet.preparation import Preparation
from gpuyard_cluster.kubelet.status_writer import NODE, StatusWriter
from gpuyard_cluster.logs import LogLine, NoLogsError
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import Device
from gpuyard_device_plugin.kubelet_api.podresources_v1_pb2 import ListPodResourcesResponse
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.runtime import Runtime


class Kubelet:
    """A `gpuyard_kube.api.Observer` of "pods" and "nodes"; those of other nodes do not matter to it.

    `heartbeats`: it renews a Lease, so that its absence is noticed; without, a cluster at rest has no event to come.
    """

    def __init__(
        self,
        machine: Machine,
        api: Api,
        runtime: Runtime,
        disk: Disk,
        *,
        seed: int,
        screen: Screen = containers.blank,
        heartbeats: bool = False,
        narrate: Narrator = silent,
    ) -> None:
        self._machine, self._runtime, self._narrate = machine, runtime, narrate
        self._allocator = DeviceAllocator(disk, Random(f"{seed} {machine.name}"), self._tell)
        self._pods = NodePods(machine.name, disk, self._tell)
        self._node = OwnNode(machine, self._allocator)
        self._stopped = False
        self._writer = StatusWriter(machine, api, runtime, self._tell)
        self._preparation = Preparation(self._pods, self._allocator, runtime, self._writer.look_at)
        self._screen, self._heart = screen, Heart(api, runtime) if heartbeats else None
        self._arrived = runtime.signal()

    def start(self) -> None:
        """Register the node and begin to work."""
        self._writer.look_at(NODE)
        name = self._machine.name
        keep_on(self._runtime, self._admit_next, f"kubelet {name} admission")
        self._writer.start(self._pods, self._node, self._allocator)
        self._preparation.start()
        if self._heart is not None:
            self._heart.start(name)

    def stop(self) -> None:
        """As if the process had died: nothing is decided or written any more."""
        self._stopped = True
        if self._heart is not None:
            self._heart.stop()
        self._allocator.stop()
        self._preparation.stop()
        self._writer.stop()
        self._arrived.fire()

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All pods or nodes as of now."""
        if resource == "pods":
            self._writer.look_at(*self._pods.replace(objects))
            self._settle()
        elif resource == "nodes":
            named = [node for node in objects if node["metadata"]["name"] == self._machine.name]
            self._set_node(named[0] if named else None)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of a pod or node."""
        if resource == "pods" and self._pods.observe(event, obj):
            self._writer.look_at(obj["metadata"]["uid"])
            self._settle()
        elif resource == "nodes" and obj["metadata"]["name"] == self._machine.name:
            self._set_node(None if event == "DELETED" else obj)

    async def plugin_registered(self, resource: str, client: PluginClient) -> None:
        """A device plugin registered; its list is to follow. PluginError when it does not answer."""
        await self._allocator.register(resource, client)
        self._node.plugin_came(resource)
        self._tell(f"device plugin registered for {resource}")
        self._writer.look_at(NODE)

    def devices(self, resource: str, devices: Iterable[Device]) -> None:
        """A plugin's complete list of devices."""
        self._allocator.listed(resource, devices)
        self._node.plugin_came(resource)
        state = self._allocator.state
        self._tell(f"{len(state.healthy(resource))} of {state.capacity(resource)} {resource} are healthy")
        self._writer.look_at(NODE, *{held.pod for held in state.holdings if held.resource == resource})

    def plugin_gone(self, resource: str) -> None:
        """A plugin's stream ended: none of its devices can be given out."""
        self._allocator.plugin_gone(resource)
        self._node.plugin_went(resource, self._runtime.now())
        self._tell(f"device plugin for {resource} is gone")
        self._writer.look_at(NODE)

    def pod_resources(self) -> ListPodResourcesResponse:
        """PodResourcesLister.List."""
        return pod_resources.listing(self._pods.active(), self._allocator.state)

    def logs(self, namespace: str, pod: str, container: str, *, previous: bool = False) -> list[LogLine]:
        """What the container printed in its present or last run, or in the one before. NoLogsError names why not."""
        found, started = self._pods.find(namespace, pod)
        history = runs.history(found, started.at, self._runtime.now())
        run = history.last_ended if previous else history.present
        if run is None:
            raise NoLogsError(f'previous terminated container "{container}" in pod "{pod}" not found')
        return containers.printed(found, started, container, self._screen, run)

    def _set_node(self, node: JSON | None) -> None:
        self._node.see(node)
        if self._heart is not None:
            self._heart.see(node)
        self._arrived.fire()
        self._writer.look_at(NODE)

    def _settle(self) -> None:
        """The set of pods may have changed: free what nobody holds any more, and see who is to be admitted."""
        holders = self._pods.holders()
        if holders is not None:
            self._allocator.release(holders)
        self._arrived.fire()

    async def _admit_next(self) -> bool:
        if self._stopped:
            return False
        node = self._node.obj
        pod = self._pods.next_to_admit() if node is not None else None
        if pod is None or node is None:
            await self._arrived.wait(None)
        else:
            await self._admit(pod, node)
        return True

    async def _admit(self, pod: JSON, node: JSON) -> None:
        refusal = await admission.judge(pod, node, self._pods.admitted(), self._allocator)
        if self._stopped:
            return
        uid = pod["metadata"]["uid"]
        if refusal is None:
            held = self._allocator.state.of_pod(uid)
            waits = "" if self._allocator.has_to_ask(uid) else None
            self._pods.start(uid, Started(self._runtime.now(), containers.environments(pod, held), waits))
            if waits is not None:
                self._preparation.begin(uid)
            told = "; ".join(["admitted", *(str(found) for found in held)])
        else:
            self._pods.refuse(uid, refusal)
            told = refusal.message
        for line in [told, *runs.ignored_annotations(pod)]:
            self._tell(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}: {line}")
        self._writer.look_at(uid)
        self._settle()

    def _tell(self, text: str) -> None:
        self._narrate(Beat(f"kubelet {self._machine.name}", text))
