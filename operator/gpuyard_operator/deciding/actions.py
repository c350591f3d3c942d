"""The writes of the operator, as values. Each of them can be repeated without harm.

Every write to a pod carries its uid: a pod of the same name may have taken its place, and must not inherit anything.
"""

from collections.abc import Sequence

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation, Victim
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_operator.objects import groups
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member


def pod_path(member: Member | Victim) -> str:
    return f"/api/v1/namespaces/{member.namespace}/pods/{member.name}"


def reserve(reservation: Reservation, group: Group) -> Write:
    """Record the verdict, before anything is done about it."""
    body = reservations.to_object(reservation, group.uid)
    if group.record is None:
        return Write("POST", reservations.path(group.namespace), body)
    return _amend(group, group.record, body)


def unreserve(group: Group, reservation: JSON) -> Write:
    """Give up the places of this Reservation object, and of no later one of the same name.

    It is deleted, unless its status is needed.
    """
    if group.record is not None and not group.keeps_conditions:
        return _amend(group, group.record, {"spec": {"seats": [], "victims": None}})
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": reservation["metadata"].get("uid", "")},
    }
    return Write("DELETE", reservations.path(group.namespace, group.name), body)


def admit(seated: Sequence[tuple[Member, str]]) -> tuple[Write, ...]:
    """Let members (each with the node of its seat) through: what is not done yet of nominating and un-gating.

    A nomination holds CPU and memory in kube-scheduler's own books, so all come before the first gate falls.
    """
    return nominate(seated) + tuple(_ungate(member) for member, _ in seated if member.gated)


def nominate(seated: Sequence[tuple[Member, str]]) -> tuple[Write, ...]:
    """The first half of that: keep the CPU and memory of gated members' places for them."""
    return tuple(
        _nominate(member, node) for member, node in seated if member.gated and member.nominated != node
    )


def let_go(members: Sequence[Member]) -> tuple[Write, ...]:
    """Let each without GPUs start for itself, on a node of kube-scheduler's choice."""
    return tuple(_ungate(member) for member in members if member.gated and not member.guarded)


def withdraw(members: Sequence[Member]) -> tuple[Write, ...]:
    """Take back the nominations of gated members whose places were given up before their gates fell.

    kube-scheduler tries no gated pod, so it would keep their CPU, memory and GPUs from everybody else for ever.
    """
    return tuple(_nominate(member, None) for member in members if member.gated and member.nominated)


def evict(member: Member | Victim) -> Write:
    """Through the Eviction API, so that disruption budgets hold."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": member.name, "namespace": member.namespace},
        "deleteOptions": {"preconditions": {"uid": member.uid}},
    }
    return Write("POST", f"{pod_path(member)}/eviction", body)


def remove(member: Member) -> tuple[Write, ...]:
    """As kube-scheduler preempts: tell the pod's owner that this is no failure of the pod, and delete it."""
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "GangUndone",
        "message": "too few members of its PodGroup were bound",
    }
    mark = {"metadata": {"uid": member.uid}, "status": {"conditions": [target]}}
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": member.uid}}
    path = pod_path(member)
    return Write("PATCH", f"{path}/status", mark, PatchType.STRATEGIC), Write("DELETE", path, options)


def report(group: Group, status: JSON) -> tuple[Write, ...]:
    """Set fields of the group's status; conditions that it does not keep in its Reservation's, which may be new."""
    path = f"{groups.path(group.namespace, group.name)}/status"
    told = Write("PATCH", path, {"status": status}, PatchType.MERGE)
    if group.keeps_conditions:
        return (told,)
    known = {"running": 0, "succeeded": 0, "failed": 0, **group.status}
    differ = {key for key, value in status.items() if known.get(key) != value}
    noted = (_note(group, status["conditions"]),) if "conditions" in differ else ()
    # The definition may have been replaced: then it keeps them from now on.
    return noted if differ <= {"conditions"} else (told, *noted)


def _note(group: Group, conditions: JSON) -> Write:
    status = {"status": {"conditions": conditions}}
    if group.record is not None:
        return _amend(group, group.record, status)
    nobody = Reservation(group.namespace, group.name, group.min_member, group.created_at, ())
    body = {**reservations.to_object(nobody, group.uid), **status}
    return Write("POST", reservations.path(group.namespace), body)


def _amend(group: Group, record: JSON, change: JSON) -> Write:
    """Change the group's Reservation, if it is still this one."""
    metadata = {**change.get("metadata", {}), "uid": record["metadata"].get("uid")}
    path = reservations.path(group.namespace, group.name)
    return Write("PATCH", path, {**change, "metadata": metadata}, PatchType.MERGE)


def _nominate(member: Member, node: str | None) -> Write:
    body = {"metadata": {"uid": member.uid}, "status": {"nominatedNodeName": node}}
    return Write("PATCH", f"{pod_path(member)}/status", body, PatchType.STRATEGIC)


def _ungate(member: Member) -> Write:
    """Take away our gate alone. A strategic merge names the gate; a merge patch would clear the whole list."""
    gates = [{"$patch": "delete", "name": vocabulary.GANG_GATE}]
    body = {"metadata": {"uid": member.uid}, "spec": {"schedulingGates": gates}}
    return Write("PATCH", pod_path(member), body, PatchType.STRATEGIC)
