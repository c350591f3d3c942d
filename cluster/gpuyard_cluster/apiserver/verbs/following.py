"""The output of a container as it comes, until the container ends.

Stands for `pods/log?follow=true`. A fake container prints when it starts and then no more, so what is followed is
its pod: the stream begins with what is printed and ends with the container.
"""

from dataclasses import dataclass

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.storage.storage import Change, Stored
from gpuyard_cluster.apiserver.storage.watches import Selection, Watch, WatchEvent
from gpuyard_cluster.apiserver.storage.watching import LONGEST
from gpuyard_cluster.apiserver.verbs import podlogs
from gpuyard_cluster.apiserver.verbs.podlogs import LogSource

_STATUSES = ("initContainerStatuses", "containerStatuses")


@dataclass(frozen=True, slots=True)
class Printed(WatchEvent):
    """Some output, which goes over the wire as it is."""

    @property
    def line(self) -> bytes:
        return self.encoded


class Following(Watch):
    """A watch of one pod whose only event is what the container has printed."""

    def __init__(self, pod: Stored, container: str) -> None:
        super().__init__(Selection(lambda stored: stored.key == pod.key, lambda _stored: b""), LONGEST, None)
        self._pod, self.container = pod, container

    def see(self, change: Change) -> None:
        """Subscriber of the store: end with the container."""
        if change.new.key != self._pod.key:
            return
        if change.kind == "DELETED" or not _runs(change.new.obj, self.container):
            self.close()


def follow(backend: Backend, request: Request, target: Target, source: LogSource) -> Watch:
    """The stream; 400 when there is no such container or it has not started."""
    pod = backend.read(target)
    printed = podlogs.read_log(request, pod.obj, source, backend.now())
    stream = Following(pod, podlogs.container_of(request, pod.obj))
    stream.push(Printed("ADDED", printed))
    if request.flag("previous") or not _runs(pod.obj, stream.container):
        stream.close()
    else:
        stream.unsubscribe = backend.store.subscribe(target.resource.store, stream.see)
        backend.watches.add(target.resource.store, stream)
    return stream


def _runs(pod: JSON, container: str) -> bool:
    statuses = [found for key in _STATUSES for found in (pod.get("status") or {}).get(key) or ()]
    return any(found["name"] == container and "running" in found["state"] for found in statuses)
