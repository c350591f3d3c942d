"""Events go by themselves.

Stands for kube-apiserver's --event-ttl, which etcd keeps by leases. Here no clock is watched: with each event that is
written those go whose time is up, so that a cluster that runs for long holds the events of its last hour.
"""

from collections import deque

from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.storage.storage import Stored

EVENT_SECONDS = 3600.0
"""How long an event stays after it was last written."""
_EVENTS = "events"


def expire_events(backend: Backend) -> None:
    """Let the server's events go when their time is up, from now on."""
    written: deque[tuple[float, Stored]] = deque()

    def follow(resource: Resource, stored: Stored) -> None:
        if resource.store != _EVENTS:
            return
        written.append((backend.now(), stored))
        while written[0][0] + EVENT_SECONDS <= backend.now():
            _, old = written.popleft()
            if backend.store.get(_EVENTS, old.key) is old:
                backend.store.delete(_EVENTS, old.key)

    backend.after_put.append(follow)
