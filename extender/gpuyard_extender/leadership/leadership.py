"""One active extender of several: the holder of a Lease, who alone answers, writes, and stands behind the Service.

Stands for client-go's leader election. Laws: who learns that another holds the Lease stops answering and writing at
once; who gives it back does so before, and not while a write is under way: what the next one does not know of when it
begins, it would give away a second time. Who asks in between waits for the next one.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_extender.leadership.endpoints import SLICES, Address, publication
from gpuyard_kube.api import Api
from gpuyard_kube.election import SURE, Candidate, Sight, decide, give_back, keep, lead
from gpuyard_kube.fences import BallotApi, FencedApi
from gpuyard_kube.loops import keep_on
from gpuyard_kube.runtime import Runtime
from gpuyard_kube.store import version

LEASE_SECONDS: Final = 6
"""A holder that died stops the scheduling of GPU pods that long: shorter than for parts that only lag behind."""
RETRY_SECONDS: Final = 1.0
HAND_BACK_SECONDS: Final = 5.0
"""How long a holder that ends waits for the next one."""
DRAIN_SECONDS: Final = 3.0
"""How much of that is for what has begun."""
SETTLE_SECONDS: Final = 2.0
"""For a moment between two holders nobody is known to be active; kube-scheduler waits 5 s (httpTimeout)."""

LAST_WRITES_SECONDS: Final = 1.0
"""From when a Lease is taken until it is used: its holder learns that it is lost, and what it has begun to write is
there."""

_LEASES: Final = f"/apis/coordination.k8s.io/v1/namespaces/{vocabulary.NAMESPACE}/leases"
RESOURCES: Final = {
    "leases": f"{_LEASES}?fieldSelector=metadata.name={vocabulary.EXTENDER}",
    "endpointslices": f"{SLICES}?fieldSelector=metadata.name={vocabulary.EXTENDER}",
}
"""What `Leadership` must be told of."""


def candidate(name: str, address: Address) -> Candidate:
    """The candidate that tells by its identity where it listens. `name` is unique."""
    identity = f"{name}@{address}"
    return Candidate(vocabulary.NAMESPACE, vocabulary.EXTENDER, identity, LEASE_SECONDS, RETRY_SECONDS)


class Leadership:
    """The part of one extender in the election. An Observer of `RESOURCES`.

    `takes_over`: take the Lease at the start, whoever holds it, instead of waiting until it is free.
    """

    def __init__(
        self, api: Api, runtime: Runtime, name: str, address: Address, *, takes_over: bool = False
    ) -> None:
        self._api, self._runtime, self._address = api, runtime, address
        self._who, self._changed = candidate(name, address), runtime.signal()
        self._electing = FencedApi(api, runtime, lambda: not self._released)
        self._ballot = BallotApi(self._electing, runtime, LEASE_SECONDS * SURE, self._changed.fire)
        self.writing: Final = FencedApi(api, runtime, lambda: self._may_write)
        """The API server for what the active extender alone may write."""
        self._takes_over, self._elected, self._ending, self._released = takes_over, False, False, False
        self._seen: dict[str, JSON | None] = {}

    @property
    def leading(self) -> bool:
        """Whether this extender is the active one."""
        return self._may_write and not self._ending

    @property
    def elsewhere(self) -> str:
        """Where the active extender listens, as host:port; empty when it is this one, or about to be, or unknown."""
        ours = self._takes_over or self._holder == self._who.identity
        return "" if ours else self._holder.rpartition("@")[2]

    async def settled(self) -> None:
        """Wait, not for long, until it is known who is active."""
        until = self._runtime.now() + SETTLE_SECONDS
        while not (self.leading or self.elsewhere) and await self._changed.wait(until):
            pass

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        self._seen[resource] = next(iter(objects), None)
        self._changed.fire()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        self._learn(resource, None if event == "DELETED" else obj)

    async def run(self, elected: Callable[[], None]) -> None:
        """Stand for election, again and again, until the Lease is handed back; `elected` is told of each success."""
        keep_on(self._runtime, self._publish, "endpoint slice")
        if self._takes_over:
            await self._seize()
            await self._runtime.sleep_until(self._runtime.now() + LAST_WRITES_SECONDS)
            self._takes_over = False
            self._changed.fire()
        while not self._released:
            lease = await lead(self._ballot, self._runtime, self._who)
            self._elected = True
            elected()
            self._learn("leases", lease)
            await keep(self._ballot, self._runtime, self._who, lease)
            self._elected = False

    async def hand_back(self, drain: Callable[[float], Awaitable[None]]) -> None:
        """Give the Lease back and wait, not for long, until the Service leads to another extender.

        `drain` ends what has begun and needs writing, until the moment that it is told.
        """
        began = self._runtime.now()
        self._ending = True
        await drain(began + DRAIN_SECONDS)
        self._released = True
        if not self._ballot.used:
            return
        until = began + HAND_BACK_SECONDS
        # A write that does not end is left to the Lease, which then runs out by itself, later than this process ends.
        quiet = await self.writing.quiet(until) and await self._electing.quiet(until)
        if quiet and await give_back(self._api, self._runtime, self._who, until):
            until = max(until, self._runtime.now() + SETTLE_SECONDS)
            while not self._is_followed() and await self._changed.wait(until):
                pass

    @property
    def _may_write(self) -> bool:
        ours = self._holder in ("", self._who.identity)
        return self._elected and ours and self._ballot.holds and not self._released

    @property
    def _holder(self) -> str:
        lease = self._seen.get("leases") or {}
        return str((lease.get("spec") or {}).get("holderIdentity") or "")

    def _is_followed(self) -> bool:
        published = self._seen.get("endpointslices")
        return bool(self.elsewhere) and publication(self._address, published) is not None

    async def _seize(self) -> None:
        """Take the Lease as if it had run out. Its holder may renew it meanwhile: then again."""
        while not self._released:
            found = await self._api.read(self._who.path)
            if found.ok or found.status == 404:
                lapsed = Sight(found.body if found.ok else None)
                write = decide(self._who, lapsed, self._runtime.now(), self._runtime.steady())
                taken = await self._ballot.send(write) if write else found
                if taken.ok:
                    self._learn("leases", taken.body)
                    return
            await self._runtime.sleep_until(self._runtime.now() + RETRY_SECONDS / 10)

    async def _publish(self) -> bool:
        """Keep the Service leading here for as long as this extender is the active one."""
        listed = "endpointslices" in self._seen
        write = publication(self._address, self._seen["endpointslices"]) if listed and self.leading else None
        if write is None:
            await self._changed.wait()
            return True
        reply = await self._api.send(write)
        if reply.ok:
            self._learn("endpointslices", None if write.method == "DELETE" else reply.body)
        else:
            await self._runtime.sleep_until(self._runtime.now() + RETRY_SECONDS / 10)
        return True

    def _learn(self, resource: str, obj: JSON | None) -> None:
        """By a watch, or by the answer to a write, which may come later than news of the next one."""
        known = self._seen.get(resource)
        if obj is None or known is None or version(known) <= version(obj):
            self._seen[resource] = obj
        self._changed.fire()
