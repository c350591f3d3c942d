"""Which of the pods that are asked about start together.

Stands for the operator's view of a PodGroup, before there is one. Law: a group's members are placed in the order of
the ledger, by name, and as many of them together as it needs; those beyond come after, each for itself, as many as
the quota bears.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.advice.simulation import Unit
from gpuyard.groups import queues
from gpuyard.groups.gangs import Member
from gpuyard.pods.workloads import Wanted
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_extender.advice.simulation_quotas import Quotas
from gpuyard_extender.ledger import groups, pods
from gpuyard_extender.ledger.groups import Group, placeable
from gpuyard_extender.ledger.pods import Pod


@dataclass(frozen=True, slots=True)
class Refused:
    """A unit that no node can take."""

    unit: Unit
    why: Rejection


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of PodGroups, by namespace and name."""

    group: Callable[[str, str], Group | None]
    siblings: Callable[[str, str], tuple[str, ...]]
    """The nodes of its members that have some."""
    quotas: Quotas


_Asked = Sequence[tuple[Pod, JSON]]
"""Pods with the objects that they were read from."""


def split(wanted: Wanted, known: Known) -> Iterator[Unit | Refused]:
    """The units in the order in which they were named. ValueError names the field that cannot be used."""
    gathered: dict[str, list[tuple[Pod, JSON]]] = {}
    named: dict[str, Group | None] = {}
    for workload in wanted.workloads:
        for pod, obj in _read(workload.pods(), workload.field):
            name = str(workload)
            if pod.group is not None:
                name, key = f"PodGroup {pod.namespace}/{pod.group}", (pod.namespace, pod.group)
                asked = wanted.groups.get(key)
                named[name] = groups.read(asked) if asked else known.group(*key)
            gathered.setdefault(name, []).append((pod, obj))
    for name, found in gathered.items():
        found.sort(key=lambda each: (each[0].name, each[0].uid))
        if (problem := _problem(found)) is not None:
            yield Refused(Unit(name, _members(found), name in named), problem)
        elif name in named:
            yield from _gang(name, found, named[name], known)
        else:
            yield Unit(name, _members(found), together=False)


def _read(objects: Sequence[Any], field: str) -> list[tuple[Pod, JSON]]:
    found = []
    for obj in objects:
        if (pod := pods.read(obj)) is None:
            raise ValueError(f"{field}{pods.fault(obj)}")
        found.append((pod, obj))
    return found


def _problem(found: _Asked) -> Rejection | None:
    """What stands in a pod's way on every node."""
    for pod, _ in found:
        if isinstance(pod.request, Rejection):
            return Rejection("", pod.request.reason, f"{pod.name}: {pod.request.detail}")
    return None


def _gang(name: str, found: _Asked, group: Group | None, known: Known) -> Iterator[Unit | Refused]:
    """Those that start together, those that come after, and those for which the quota does not suffice."""
    whole = Unit(name, _members(found), together=True)
    if group is None or len(found) < group.needed:
        yield Refused(whole, Rejection("", Reason.GANG_WAITING, _missing(found, group)))
        return
    if isinstance(group.nearness, Rejection):
        yield Refused(whole, group.nearness)
        return
    first, rest = found[: group.needed], found[group.needed :]
    admit, wish, pod = known.quotas.admit, group.nearness, found[0][0]
    siblings = known.siblings(pod.namespace, group.name) if wish else ()
    queue = group.queue or queues.queue_of({}, [obj for _, obj in found])
    if (refusal := admit(queue, [obj for _, obj in first])) is not None:
        yield Refused(whole, refusal)
        return
    yield Unit(name, _members(first), together=True, nearness=wish, siblings=siblings)
    count = 0
    while count < len(rest) and (refusal := admit(queue, [rest[count][1]])) is None:
        count += 1
    if count:
        after = f"{name} beyond minMember"
        yield Unit(after, _members(rest[:count]), together=False, nearness=wish, late=True, siblings=siblings)
    if refusal is not None:
        yield Refused(Unit(f"{name} beyond its quota", _members(rest[count:]), together=False), refusal)


def _members(found: _Asked) -> tuple[Member, ...]:
    return tuple(placeable(pod for pod, _ in found))


def _missing(found: _Asked, group: Group | None) -> str:
    if group is None:
        return "there is no such PodGroup; ask about it as well"
    return f"{len(found)} of {group.needed} members are there; ask about all of them"
