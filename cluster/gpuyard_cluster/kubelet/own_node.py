"""The kubelet's own Node: whether it is there, whether its plugins are, and what is to be written of it next.

Stands for the kubelet's node registration and status sync.
"""

from gpuyard.writes import JSON, Write
from gpuyard_cluster.kubelet import node_status
from gpuyard_cluster.kubelet.absences import Absences
from gpuyard_cluster.kubelet.allocation import DeviceAllocator
from gpuyard_cluster.kubelet.node_status import Machine


class OwnNode:
    """`obj` is the Node as the API server has it; None as long as it has none."""

    def __init__(self, machine: Machine, allocator: DeviceAllocator) -> None:
        self._machine, self._allocator = machine, allocator
        self._absences = Absences()
        self._registered = False
        self.obj: JSON | None = None

    def see(self, node: JSON | None) -> None:
        """The Node as of now."""
        self.obj = node
        self._registered = self._registered or node is not None

    def plugin_came(self, resource: str) -> None:
        self._absences.end(resource)

    def plugin_went(self, resource: str, now: float) -> None:
        self._absences.begin(resource, now)

    def next_write(self, now: float) -> Write | None:
        """The one write that brings the API server in line; None when it is."""
        for resource in self._absences.over(now):
            self._absences.end(resource)
            self._allocator.forget(resource)
        if self.obj is not None:
            return node_status.update(self._machine, self._allocator.state, self.obj, now)
        # A node that was deleted comes back with its kubelet's next start, as with the real one.
        registered, state = self._registered, self._allocator.state
        return None if registered else node_status.registration(self._machine, state, now)

    def changes_at(self) -> float | None:
        """When the node changes by itself."""
        return self._absences.next_at()
