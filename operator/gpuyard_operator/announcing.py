"""Events about PodGroups: each new reason why one does not run, or that it does.

Stands for what controllers do with client-go's EventRecorder. Laws: what is told is what the API server has, wherever
the group's conditions are kept; nothing is told again while the reason stays, whatever changes of its numbers. A
reason that a gang passes while it starts is told when it has lasted, with the numbers of then, any other at once: so
few writes are spent on a gang that has room.
"""

from typing import Final

from gpuyard import vocabulary
from gpuyard_kube.api import Api
from gpuyard_kube.recording import Recorder, Source, Told
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.cache import Cache
from gpuyard_operator.deciding import reasons
from gpuyard_operator.objects import groups
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.work_item import WorkItem

LASTING_SECONDS: Final = 2.0
"""Time enough to create the pods of a gang and to bind them, and soon for whoever looks why it waits."""


class Announcer:
    """What was there before a work item `begin`s is not told: whoever operated then has told it."""

    def __init__(self, api: Api, runtime: Runtime, cache: Cache) -> None:
        self._cache, self._runtime, self._recorder = cache, runtime, Recorder(api, runtime)
        self._stopped = False

    def stop(self) -> None:
        """Begin no further write."""
        self._stopped = True

    def begin(self, item: WorkItem) -> None:
        """A group is worked on from now on."""
        item.news = self._news(item.key)

    def look(self, item: WorkItem) -> None:
        """Something may have been written about a group."""
        found = self._news(item.key)
        item.hear(found.text if found else "", self._runtime.now())
        if _same(found, item.news):
            return
        item.news = found
        if found is not None:
            self._runtime.spawn(self._tell(item, found), f"news of {'/'.join(item.key)}")

    async def _tell(self, item: WorkItem, told: Told) -> None:
        if told.reason in reasons.PASSING:
            await self._runtime.sleep_until(self._runtime.now() + LASTING_SECONDS)
        if item.news is told and not self._stopped:
            now = self._news(item.key)
            self._recorder.record(Source(vocabulary.OPERATOR), now if now and _same(now, told) else told)

    def _news(self, key: Key) -> Told | None:
        view = self._cache.view(key)
        return reasons.news(groups.read(view.group, view.record))


def _same(one: Told | None, other: Told | None) -> bool:
    """Whether both are of one reason of one group."""
    if one is None or other is None:
        return one is other
    return (one.about["metadata"]["uid"], one.reason) == (other.about["metadata"]["uid"], other.reason)
