"""The half of the kubelet that writes: what its pods and its node became, and what people are told of it.

Stands for the kubelet's status manager at work. What is to be written follows from what is known at the moment of
writing, so that looking once too often is harmless.
"""

from collections.abc import Callable
from functools import partial

from gpuyard.writes import JSON, Write
from gpuyard_cluster.kubelet import pod_lifecycle, telling
from gpuyard_cluster.kubelet.agenda import Agenda
from gpuyard_cluster.kubelet.allocation import DeviceAllocator
from gpuyard_cluster.kubelet.node_pods import NodePods
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.own_node import OwnNode
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.recording import Recorder, Source
from gpuyard_kube.runtime import Runtime

RETRY_SECONDS = 1.0
"""After a write that the API server failed to do."""
NODE = ""
"""Stands beside pod UIDs for the node itself."""


class StatusWriter:
    """Looks at pods and at the node, one after the other, as often as it is told to."""

    def __init__(self, machine: Machine, api: Api, runtime: Runtime, report: Callable[[str], None]) -> None:
        self._machine, self._api, self._runtime, self._report = machine, api, runtime, report
        self._recorder, self._source = Recorder(api, runtime), Source("kubelet", machine.name)
        self._agenda, self._changed = Agenda(), runtime.signal()
        self._stopped = False

    def look_at(self, *keys: str) -> None:
        """Bring these in line as soon as possible."""
        for key in keys:
            self._agenda.add(key)
        self._changed.fire()

    def stop(self) -> None:
        """Write nothing more."""
        self._stopped = True
        self._changed.fire()

    def start(self, pods: NodePods, node: OwnNode, allocator: DeviceAllocator) -> None:
        """Write until it is told to stop."""
        turn = partial(self._turn, pods, node, allocator)
        keep_on(self._runtime, turn, f"kubelet {self._machine.name} status")

    async def _turn(self, pods: NodePods, node: OwnNode, allocator: DeviceAllocator) -> bool:
        if self._stopped:
            return False
        key = self._agenda.pop(self._runtime.now())
        if key is None:
            await self._changed.wait(self._agenda.next_at())
            return True
        try:
            write = self._of_node(node) if key == NODE else self._of_pod(key, pods, allocator)
            if write is not None:
                await self._send(key, pods.get(key), write)
        except Exception:
            self._agenda.add_later(self._runtime.now() + RETRY_SECONDS, key)
            raise
        return True

    async def _send(self, key: str, pod: JSON | None, write: Write) -> None:
        reply = await self._api.send(write)
        if reply.ok:
            self._record(pod, write)
        elif reply.status >= 500:
            self._agenda.add_later(self._runtime.now() + RETRY_SECONDS, key)
        elif reply.status not in (404, 409):
            self._report(f"{write.method} {write.path}: {reply.reason}")

    def _record(self, pod: JSON | None, write: Write) -> None:
        if pod is not None and write.method == "PATCH" and isinstance(write.body, dict):
            for told in telling.of_write(pod, write.body["status"]):
                self._recorder.record(self._source, told)

    def _of_pod(self, uid: str, pods: NodePods, allocator: DeviceAllocator) -> Write | None:
        pod, now = pods.get(uid), self._runtime.now()
        if pod is None or pods.admitting(uid):
            return None
        record = pods.record(uid)
        moment = pod_lifecycle.changes_at(pod, record.started, now) if record.started else None
        if moment is not None:
            self._agenda.add_later(moment, uid)
        return pod_lifecycle.next_write(pod, record, allocator.state, self._machine.address, now)

    def _of_node(self, node: OwnNode) -> Write | None:
        write = node.next_write(self._runtime.now())
        if (moment := node.changes_at()) is not None:
            self._agenda.add_later(moment, NODE)
        return write
