"""The columns of the built-in kinds, as kubectl shows them.

Stands for `pkg/printers/internalversion` of kube-apiserver. A kind that is not here is shown by name and age.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.tables import cells, object_rows, pod_rows, workload_rows

Row = Callable[[JSON, float], list[Any]]


@dataclass(frozen=True, slots=True)
class Printer:
    """`titles` of the columns after Name, those that only `-o wide` shows in parentheses, and the cells of a row."""

    titles: str
    row: Row
    named: bool = True
    """Whether Name is the first column."""

    def columns(self) -> list[tuple[str, int]]:
        """Titles with their priorities: 0 always shown, 1 only when there is room for all."""
        shown = [_column(title) for title in self.titles.split(", ")]
        return [("Name", 0), *shown] if self.named else shown

    def cells(self, obj: JSON, now: float) -> list[Any]:
        """One row, in the order of the columns."""
        return [obj["metadata"].get("name", "")] * self.named + self.row(obj, now)


def _column(title: str) -> tuple[str, int]:
    return (title[1:-1], 1) if title.startswith("(") else (title, 0)


_PODS = "(Containers), (Images), (Selector)"

_WEBHOOKS = Printer("Webhooks, Age", lambda obj, now: [len(obj.get("webhooks", ())), cells.age(obj, now)])

PLAIN = Printer("Age", lambda obj, now: [cells.age(obj, now)])

PRINTERS: Mapping[str, Printer] = {
    "pods": Printer(
        "Ready, Status, Restarts, Age, (IP), (Node), (Nominated Node), (Readiness Gates)", pod_rows.cells
    ),
    "nodes": Printer(
        "Status, Roles, Age, Version, (Internal-IP), (External-IP), (OS-Image), (Kernel-Version), "
        "(Container-Runtime)",
        object_rows.node,
    ),
    "namespaces": Printer("Status, Age", object_rows.namespace),
    "configmaps": Printer("Data, Age", object_rows.config_map),
    "secrets": Printer("Type, Data, Age", object_rows.secret),
    "services": Printer("Type, Cluster-IP, External-IP, Port(s), Age, (Selector)", object_rows.service),
    "events": Printer(
        "Last Seen, Type, Reason, Object, (Subobject), (Source), Message, (First Seen), (Count), (Name)",
        object_rows.event,
        named=False,
    ),
    "deployments.apps": Printer(f"Ready, Up-to-date, Available, Age, {_PODS}", workload_rows.deployment),
    "replicasets.apps": Printer(f"Desired, Current, Ready, Age, {_PODS}", workload_rows.replica_set),
    "statefulsets.apps": Printer("Ready, Age, (Containers), (Images)", workload_rows.stateful_set),
    "daemonsets.apps": Printer(
        f"Desired, Current, Ready, Up-to-date, Available, Node Selector, Age, {_PODS}",
        workload_rows.daemon_set,
    ),
    "jobs.batch": Printer(f"Status, Completions, Duration, Age, {_PODS}", workload_rows.job),
    "leases.coordination.k8s.io": Printer("Holder, Age", object_rows.lease),
    "poddisruptionbudgets.policy": Printer(
        "Min Available, Max Unavailable, Allowed Disruptions, Age", object_rows.budget
    ),
    "priorityclasses.scheduling.k8s.io": Printer(
        "Value, Global-Default, Age, PreemptionPolicy", object_rows.priority_class
    ),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "customresourcedefinitions.apiextensions.k8s.io": Printer("Created At", object_rows.definition),
}
"""By qualified plural."""
