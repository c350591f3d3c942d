"""The columns of the built-in kinds, as kubectl shows them.

Stands for `pkg/printers/internalversion` of kube-apiserver. A kind that is not here is shown by name and age.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.tables import cells, object_rows, pod_rows, policy_rows, workload_rows

Row = Callable[[JSON, float], list[Any]]


@dataclass(frozen=True, slots=True)
class Printer:
    """`titles` of the columns after Name, those that only `-o wide` shows in parentheses, some with a type behind a
    colon; and the cells of a row."""

    titles: str
    row: Row
    named: bool = True
    """Whether Name is the first column."""

    def columns(self) -> list[tuple[str, int, str]]:
        """Titles, priorities (0 always shown, 1 only when there is room for all) and types."""
        shown = [_column(title) for title in self.titles.split(", ")]
        return [("Name", 0, "string"), *shown] if self.named else shown

    def cells(self, obj: JSON, now: float) -> list[Any]:
        """One row, in the order of the columns."""
        return [obj["metadata"].get("name", "")] * self.named + self.row(obj, now)


def _column(text: str) -> tuple[str, int, str]:
    title, _, kind = text.partition(":")
    wide = title.startswith("(")
    return title[1:-1] if wide else title, int(wide), kind or "string"


_PODS = "(Containers), (Images), (Selector)"
_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"

PLAIN = Printer("Age", lambda obj, now: [cells.age(obj, now)])
_CREATED = Printer("Created At:date", policy_rows.created)
_WEBHOOKS = Printer("Webhooks:integer, Age", policy_rows.webhooks)
_POLICY_BINDING = Printer("PolicyName, ParamRef, Age", policy_rows.policy_binding)
_ROLE_BINDING = Printer("Role, Age, (Users), (Groups), (ServiceAccounts)", policy_rows.role_binding)

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
    "replicasets.apps": Printer(
        f"Desired:integer, Current:integer, Ready:integer, Age, {_PODS}", workload_rows.replica_set
    ),
    "statefulsets.apps": Printer("Ready, Age, (Containers), (Images)", workload_rows.stateful_set),
    "daemonsets.apps": Printer(
        "Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, Available:integer, Node Selector, Age, "
        f"{_PODS}",
        workload_rows.daemon_set,
    ),
    "jobs.batch": Printer(f"Status, Completions, Duration, Age, {_PODS}", workload_rows.job),
    "leases.coordination.k8s.io": Printer("Holder, Age", object_rows.lease),
    "poddisruptionbudgets.policy": Printer(
        "Min Available, Max Unavailable, Allowed Disruptions:integer, Age", object_rows.budget
    ),
    "priorityclasses.scheduling.k8s.io": Printer(
        "Value:integer, Global-Default:boolean, Age, PreemptionPolicy", object_rows.priority_class
    ),
    "cronjobs.batch": Printer(
        f"Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age, {_PODS}",
        workload_rows.cron_job,
    ),
    "endpoints": Printer("Endpoints, Age", policy_rows.endpoints),
    "endpointslices.discovery.k8s.io": Printer(
        "AddressType, Ports, Endpoints, Age", policy_rows.endpoint_slice
    ),
    "storageclasses.storage.k8s.io": Printer(
        "Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age", policy_rows.storage_class
    ),
    "csinodes.storage.k8s.io": Printer("Drivers:integer, Age", policy_rows.csi_node),
    f"mutatingwebhookconfigurations.{_ADMISSION}": _WEBHOOKS,
    f"validatingwebhookconfigurations.{_ADMISSION}": _WEBHOOKS,
    f"mutatingadmissionpolicies.{_ADMISSION}": Printer(
        "Mutations:integer, ParamKind, Age", policy_rows.policy
    ),
    f"validatingadmissionpolicies.{_ADMISSION}": Printer(
        "Validations:integer, ParamKind, Age", policy_rows.policy
    ),
    f"mutatingadmissionpolicybindings.{_ADMISSION}": _POLICY_BINDING,
    f"validatingadmissionpolicybindings.{_ADMISSION}": _POLICY_BINDING,
    f"clusterroles.{_RBAC}": _CREATED,
    f"roles.{_RBAC}": _CREATED,
    f"clusterrolebindings.{_RBAC}": _ROLE_BINDING,
    f"rolebindings.{_RBAC}": _ROLE_BINDING,
    "customresourcedefinitions.apiextensions.k8s.io": _CREATED,
}
"""By qualified plural."""
