"""The gang operator: events in, one reconcile of each group at a time, writes out.

Stands for controller-runtime: a queue that coalesces the events of a group, requeue times, retries. It awaits nothing
but its ports, so the same object runs on asyncio and single-stepped. Its memory may be lost between any two writes.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Final

from gpuyard.narration import Narrator, silent
from gpuyard.pods import memberships
from gpuyard.writes import JSON
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.runtime import Runtime
from gpuyard_operator import tally
from gpuyard_operator.announcing import Announcer
from gpuyard_operator.cache import CROWDS, OTHERS, Cache, items
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.reconciler import Planner, Reconciler, Site
from gpuyard_operator.tally import Tally
from gpuyard_operator.unschedulable import Unschedulable
from gpuyard_operator.work_item import WorkItem

PENDING: Final = "pods and nodes were not listed yet"

LARGE, BATCH_SECONDS = 4, 0.1
"""What comes of a group that has or needs more than so many pods within that time is taken in together: each look is
at all of its pods, and might tell people something new about each event."""


class Operator:
    """An `Observer` of the resources in `cache.PATHS`; it does nothing before it was given a list of each."""

    def __init__(
        self,
        api: Api,
        runtime: Runtime,
        planner: Planner,
        narrate: Narrator = silent,
        *,
        preempts: bool = True,
    ) -> None:
        self._api, self._runtime, self._cache = api, runtime, Cache(preempts=preempts)
        self._unschedulable = Unschedulable(runtime, self._wake, self._cache)
        site = Site(api, runtime, planner, narrate)
        self._reconciler = Reconciler(site, self._cache, self._unschedulable, self._touch)
        self._announcer = Announcer(api, runtime, self._cache)
        self._items: dict[Key, WorkItem] = {}
        self._stopped = False

    @property
    def tally(self) -> Tally:
        """What was done so far."""
        return self._reconciler.tally

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource."""
        self._touch(self._cache.replace(resource, objects))

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of an object."""
        self._touch(self._cache.observe(resource, event, obj))

    async def resync(self) -> str:
        """List what kopf watches, for it may have lost something. Why not all is known; empty when it is."""
        for resource, path in CROWDS.items():
            reply = await self._api.read(path, limit="1")
            if not reply.ok:
                return tally.lacking(f"list {resource}", reply)
        if not self._cache.has_listed(CROWDS):
            return PENDING
        for resource, path in OTHERS.items():
            reply = await self._api.read(path)
            if not reply.ok:
                return tally.lacking(f"list {resource}", reply)
            self._touch(self._cache.replace(resource, *items(reply)))
        return ""

    def phases(self) -> Counter[str]:
        """How many pod groups are in each phase."""
        return Counter(str((group.get("status") or {}).get("phase", "")) for group in self._cache.groups())

    def stop(self) -> None:
        """Begin no further write; work that waits ends."""
        self._stopped = True
        self._reconciler.stop()
        self._announcer.stop()
        for item in self._items.values():
            item.signal.fire()

    def _touch(self, keys: set[Key]) -> None:
        self._unschedulable.look()
        if self._stopped or not self._cache.synced:
            return
        for key in sorted(key for key in keys if key not in self._items):
            item = self._items[key] = WorkItem(key, self._runtime.signal())
            self._announcer.begin(item)
            keep_on(self._runtime, partial(self._serve, item), f"operator {'/'.join(key)}")
        for key in sorted(keys):
            self._wake(key)

    def _wake(self, key: Key) -> None:
        if key in self._items:
            self._items[key].wake()

    async def _serve(self, item: WorkItem) -> bool:
        if self._stopped:
            return False
        item.dirty = False
        only_told = await self._reconciler.turn(item)
        self._announcer.look(item)
        self._unschedulable.note(item.key, item.answers, again=item.dirty)
        if not item.dirty and not self._stopped:
            if not self._cache.knows(item.key):
                del self._items[item.key]
                self._unschedulable.note(item.key)
                return False
            await item.signal.wait(item.wake_at)
        if only_told and self._is_large(item.key) and not self._unschedulable.is_looking(item.key):
            await self._runtime.sleep_until(self._runtime.now() + BATCH_SECONDS)
        return True

    def _is_large(self, key: Key) -> bool:
        needed = memberships.min_member(self._cache.group(key) or {})
        return max(needed, len(self._cache.pods(key))) > LARGE
