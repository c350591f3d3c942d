"""The driver of a node's MIG instances, as the plugin has it: makes them, tears them down, says when they are ready.

Stands for NVML's half of NVIDIA's nvidia-mig-manager. It keeps `on_demand.Instances` up to date and tells the time;
what becomes of them is decided there. Before it is known which pods there are, nothing is torn down.
"""

from collections.abc import Callable, Collection
from typing import Final

from gpuyard import annotations, vocabulary
from gpuyard.writes import JSON
from gpuyard_device_plugin.devices.devices import DeviceTable
from gpuyard_device_plugin.devices.on_demand import PATIENCE_SECONDS, Instances, NotReadyError
from gpuyard_kube.runtime import Runtime

_RETRY: Final = "the kubelet tries the start again"


class MigDriver:
    """`ended` is called when a tear-down may have ended; whoever answers it calls `follow`."""

    def __init__(self, runtime: Runtime, ended: Callable[[], None]) -> None:
        self._runtime, self._ended = runtime, ended
        self._instances = Instances()
        self._adopted = self._pods_known = False
        self._wakes_at: float | None = None
        self._followed = runtime.signal()

    def pods_are_known(self) -> None:
        """From now on what nobody holds is torn down."""
        self._pods_known = True

    def adopt(self, node: JSON) -> bool:
        """The Node object was heard of, on which a former life may have said what it made; whether that is news."""
        before = self._instances
        if not self._adopted:
            notes = (node.get("metadata") or {}).get("annotations") or {}
            found = annotations.read_inventory(notes.get(vocabulary.INVENTORY))
            self._adopted, self._instances = True, before.adopting(found)
        return self._instances != before

    def follow(self, table: DeviceTable, held: Collection[str]) -> DeviceTable:
        """The same devices with the GPUs cut as they are now, while pods hold those in `held`."""
        now = self._runtime.now()
        if self._pods_known:
            self._instances = self._instances.following(table, held, now)
        end = self._instances.next_end(now)
        if end is not None and end != self._wakes_at:
            self._wakes_at = end
            self._runtime.spawn(self._wake(end), "MIG tear-down")
        self._followed.fire()
        return DeviceTable.of(self._instances.shown(table.inventory))

    async def ready(self, table: Callable[[], DeviceTable], ids: Collection[str]) -> None:
        """Wait until nothing is left of what was in these devices' place. NotReadyError when that takes too long."""
        until = self._runtime.now() + PATIENCE_SECONDS
        while others := self._instances.in_the_way(table(), ids):
            if not await self._followed.wait(until):
                places = ", ".join(f"{old.profile} at {old.start}:{old.size}" for old in others)
                problem = (
                    f"GPU {others[0].gpu} still has the MIG instance {places} after {PATIENCE_SECONDS:g} s"
                )
                raise NotReadyError(f"{problem}: {_RETRY}")

    async def _wake(self, end: float) -> None:
        await self._runtime.sleep_until(end)
        self._ended()
