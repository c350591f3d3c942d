"""Who leads: a Lease that one of several candidates holds and renews.

Stands for client-go's leaderelection with a LeaseLock. `decide` is pure: it looks at the Lease as last seen and says
what to write. A candidate measures a foreign Lease by its own clock, from the moment when it saw it change, and its
own Lease likewise, so that clocks that differ or are set do no harm.
"""

import logging
import math
from dataclasses import dataclass, replace

from gpuyard.writes import JSON, Write
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime
from gpuyard_kube.timestamps import rfc3339_micro

log = logging.getLogger("gpuyard.election")

SURE = 2 / 3
"""The part of its Lease's time for which a holder that cannot renew it goes on: client-go's RenewDeadline."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One process that wants to lead. Spans are in seconds."""

    namespace: str
    name: str
    identity: str
    lease_seconds: int = 15
    retry_seconds: float = 2.0

    @property
    def collection(self) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases"

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.name}"


@dataclass(frozen=True, slots=True)
class Sight:
    """The Lease as last read (None: there is none), and when it was first seen so, by `Runtime.steady`."""

    lease: JSON | None = None
    since: float = -math.inf

    def update(self, lease: JSON | None, steady: float) -> "Sight":
        """The sight after reading `lease`; the same content keeps its moment."""
        if lease is not None and self.lease is not None and lease.get("spec") == self.lease.get("spec"):
            return replace(self, lease=lease)
        return Sight(lease, steady)


def leads(candidate: Candidate, lease: JSON | None) -> bool:
    """Whether the candidate is named as holder."""
    return lease is not None and (lease.get("spec") or {}).get("holderIdentity") == candidate.identity


def decide(candidate: Candidate, sight: Sight, now: float, steady: float) -> Write | None:
    """What to write so as to become or stay the leader; None while someone else's Lease is alive."""
    if sight.lease is None:
        return Write("POST", candidate.collection, _lease(candidate, None, now))
    spec = sight.lease.get("spec") or {}
    held = spec.get("holderIdentity") not in (None, "", candidate.identity)
    if held and steady < sight.since + int(spec.get("leaseDurationSeconds") or candidate.lease_seconds):
        return None
    return Write("PUT", candidate.path, _lease(candidate, sight.lease, now))


def release(candidate: Candidate, lease: JSON) -> Write:
    """Give the Lease back, so that the next leader need not wait for its end."""
    given = {**lease, "spec": {**(lease.get("spec") or {}), "holderIdentity": "", "leaseDurationSeconds": 1}}
    return Write("PUT", candidate.path, given)


async def lead(api: Api, runtime: Runtime, candidate: Candidate) -> JSON:
    """Wait until the candidate leads; the Lease that says so. Logs once for each reason to wait."""
    sight, known = Sight(), ""
    while True:
        sight, problem = await _attempt(api, runtime, candidate, sight)
        if not problem and sight.lease is not None:
            return sight.lease
        if problem != known:
            log.warning("waiting for the Lease %s/%s: %s", candidate.namespace, candidate.name, problem)
        known = problem
        await runtime.sleep_until(runtime.now() + candidate.retry_seconds)


async def keep(api: Api, runtime: Runtime, candidate: Candidate, lease: JSON) -> None:
    """Renew the Lease; returns when it is lost: another holds it, or it could not be renewed in time."""
    sight, renewed = Sight(lease, runtime.steady()), runtime.steady()
    while runtime.steady() < renewed + candidate.lease_seconds * SURE:
        await runtime.sleep_until(runtime.now() + candidate.retry_seconds)
        began = runtime.steady()
        # As it was seen: whoever else has written it in the meantime makes this fail, and is seen then.
        write = decide(candidate, sight, runtime.now(), began)
        reply = await api.send(write) if write else None
        if reply is not None and reply.ok:
            sight, renewed = Sight(reply.body, began), began
            continue
        began = runtime.steady()
        sight, problem = await _attempt(api, runtime, candidate, sight)
        if not leads(candidate, sight.lease):
            return
        if not problem:
            renewed = began


async def give_back(api: Api, runtime: Runtime, candidate: Candidate, until: float) -> bool:
    """Release the Lease, again if need be: others write it too, and servers fail. Whether it was ours and is free."""
    sent = False
    while True:
        found = await api.read(candidate.path)
        if found.status == 404 or (found.ok and not leads(candidate, found.body)):
            return sent and found.ok and not (found.body.get("spec") or {}).get("holderIdentity")
        sent = sent or found.ok
        if found.ok and (await api.send(release(candidate, found.body))).ok:
            return True
        if runtime.now() >= until:
            return False
        await runtime.sleep_until(runtime.now() + candidate.retry_seconds / 10)


async def _attempt(api: Api, runtime: Runtime, candidate: Candidate, sight: Sight) -> tuple[Sight, str]:
    """One round: read, decide, write. Why the Lease was not written, or ""; a failed request changes no sight."""
    steady = runtime.steady()
    found = await api.read(candidate.path)
    if not found.ok and found.status != 404:
        return sight, found.reason
    sight = sight.update(found.body if found.ok else None, steady)
    write = decide(candidate, sight, runtime.now(), steady)
    if write is None:
        return sight, f"{((sight.lease or {}).get('spec') or {}).get('holderIdentity')} holds it"
    reply = await api.send(write)
    return (Sight(reply.body, steady), "") if reply.ok else (sight, reply.reason)


def _lease(candidate: Candidate, old: JSON | None, now: float) -> JSON:
    stamp = rfc3339_micro(now)
    before = (old or {}).get("spec") or {}
    same = before.get("holderIdentity") == candidate.identity
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": (old or {}).get("metadata") or {"name": candidate.name, "namespace": candidate.namespace},
        "spec": {
            "holderIdentity": candidate.identity,
            "leaseDurationSeconds": candidate.lease_seconds,
            "acquireTime": before.get("acquireTime", stamp) if same else stamp,
            "renewTime": stamp,
            "leaseTransitions": int(before.get("leaseTransitions") or 0) + (old is not None and not same),
        },
    }
