"""Admitted pods whose containers start once their device plugins let them.

Stands for the kubelet's PreStartContainer calls (devicemanager, callPreStartContainerIfNeeded). They are made while
other pods are admitted, and an error is no end: the start is tried again (seen on 1.36.3, after some 10 s). Here all
containers of a pod start together, so their plugins are asked together, and once: a fake container's later runs find
the devices as its first one did.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gpuyard.pods.phases import has_ended
from gpuyard_cluster.kubelet.allocation import DeviceAllocator, PluginError
from gpuyard_cluster.kubelet.node_pods import NodePods
from gpuyard_kube.runtime import Runtime

RETRY_SECONDS: Final = 10.0


class Preparation:
    """`look_at` is told the UID of a pod of which there is news."""

    def __init__(
        self, pods: NodePods, allocator: DeviceAllocator, runtime: Runtime, look_at: Callable[[str], None]
    ) -> None:
        self._pods, self._allocator, self._runtime, self._look_at = pods, allocator, runtime, look_at
        self._stopped = False

    def start(self) -> None:
        """Go on with the pods that the kubelet left waiting when it died."""
        for uid in self._pods.waiting():
            self.begin(uid)

    def begin(self, uid: str) -> None:
        """Get this pod's containers to start."""
        self._runtime.spawn(self._prepare(uid), f"prepare pod {uid}")

    def stop(self) -> None:
        """Whatever a plugin answers from now on changes nothing."""
        self._stopped = True

    async def _prepare(self, uid: str) -> None:
        while (waits := await self._reason(uid)) is not None:
            self._goes_on(uid, waits)
            await self._runtime.sleep_until(self._runtime.now() + RETRY_SECONDS)
        self._goes_on(uid, None)

    async def _reason(self, uid: str) -> str | None:
        """Why the containers cannot start yet; None when they can, or nobody waits for that any more."""
        pod = self._pods.get(uid)
        if self._stopped or uid not in self._pods.waiting() or (pod is not None and has_ended(pod)):
            return None
        try:
            await self._allocator.pre_start(uid)
        except PluginError as error:
            return f"device plugin PreStartContainer rpc failed with err: {error}"
        return None

    def _goes_on(self, uid: str, waits: str | None) -> None:
        started = self._pods.record(uid).started
        if self._stopped or started is None:
            return
        since = self._runtime.now() if waits is None else started.at
        self._pods.start(uid, replace(started, at=since, waits=waits))
        self._look_at(uid)
