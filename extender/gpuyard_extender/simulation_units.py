"""Which of the pods that are asked about start together.

Stands for the operator's view of a PodGroup, before there is one. Law: a group's members are placed in the order of
the ledger, by name, and as many of them together as it needs; those beyond come after, each for itself.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gpuyard.advice.simulation import Unit
from gpuyard.groups.gangs import Member
from gpuyard.pods.workloads import Wanted
from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender import pods
from gpuyard_extender.groups import Group, placeable
from gpuyard_extender.pods import Pod

Refused = tuple[Unit, Reason, str]
"""A unit that no node can take, and why."""
GroupNamed = Callable[[str, str], Group | None]
"""A PodGroup of the cluster, by namespace and name."""


def split(wanted: Wanted, group: GroupNamed) -> tuple[list[Unit], list[Refused]]:
    """The units in the order in which they were named. ValueError names the field that cannot be used."""
    by_name: dict[str, list[Pod]] = {}
    needed: dict[str, int] = {}
    for workload in wanted.workloads:
        for pod in _read(workload.pods(), workload.field):
            name = str(workload)
            if pod.group is not None:
                name = f"PodGroup {pod.namespace}/{pod.group}"
                known = group(pod.namespace, pod.group)
                needed[name] = wanted.groups.get((pod.namespace, pod.group), known.needed if known else 0)
            by_name.setdefault(name, []).append(pod)
    units, refused = list[Unit](), list[Refused]()
    for name, found in by_name.items():
        found.sort(key=lambda pod: (pod.name, pod.uid))
        if problem := _problem(found, needed.get(name)):
            refused.append((Unit(name, tuple(placeable(found)), name in needed), *problem))
        else:
            units += _units(name, placeable(found), needed.get(name))
    return units, refused


def _read(objects: Sequence[Any], field: str) -> list[Pod]:
    found: list[Pod] = []
    for obj in objects:
        if (pod := pods.read(obj)) is None:
            raise ValueError(f"{field}{pods.fault(obj)}")
        found.append(pod)
    return found


def _problem(found: Sequence[Pod], needed: int | None) -> tuple[Reason, str] | None:
    """What stands in the way on every node."""
    for pod in found:
        if isinstance(pod.request, Rejection):
            return pod.request.reason, f"{pod.name}: {pod.request.detail}"
    if needed == 0:
        return Reason.GANG_WAITING, "there is no such PodGroup; ask about it as well"
    if needed is not None and len(found) < needed:
        return Reason.GANG_WAITING, f"{len(found)} of {needed} members are there; ask about all of them"
    return None


def _units(name: str, members: Sequence[Member], needed: int | None) -> list[Unit]:
    if needed is None:
        return [Unit(name, tuple(members), together=False)]
    rest = Unit(f"{name} beyond minMember", tuple(members[needed:]), together=False)
    return [Unit(name, tuple(members[:needed]), together=True), *([rest] if rest.members else [])]
