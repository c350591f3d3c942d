"""Roles, admission policies, storage classes and the like in one line, as kubectl shows them.

Stands for the printers of kube-apiserver. Each function gives the cells after the name at a time.
"""

from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.tables.cells import NONE, age, spec_of

_UNSET = "<unset>"
_SHOWN = 3
"""Addresses and ports that are shown of many."""


def created(obj: JSON, _now: float) -> list[Any]:
    return [obj["metadata"].get("creationTimestamp", "")]


def webhooks(obj: JSON, now: float) -> list[Any]:
    return [len(obj.get("webhooks", ())), age(obj, now)]


def policy(obj: JSON, now: float) -> list[Any]:
    spec = spec_of(obj)
    kind = spec.get("paramKind")
    shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else _UNSET
    rules: JSON = spec.get("validations") or spec.get("mutations") or {}
    return [len(rules), shown, age(obj, now)]


def policy_binding(obj: JSON, now: float) -> list[Any]:
    spec = spec_of(obj)
    reference = spec.get("paramRef")
    shown = reference.get("name", "*") if reference else _UNSET
    return [spec.get("policyName", ""), shown, age(obj, now)]


def role_binding(obj: JSON, now: float) -> list[Any]:
    role, subjects = obj.get("roleRef", {}), obj.get("subjects", ())
    named = {
        kind: [subject.get("name", "") for subject in subjects if subject.get("kind") == kind]
        for kind in ("User", "Group")
    }
    accounts = [
        f"{subject.get('namespace', '')}/{subject.get('name', '')}"
        for subject in subjects
        if subject.get("kind") == "ServiceAccount"
    ]
    lists = [", ".join(found) for found in (named["User"], named["Group"], accounts)]
    return [f"{role.get('kind', '')}/{role.get('name', '')}", age(obj, now), *lists]


def storage_class(obj: JSON, now: float) -> list[Any]:
    expands = bool(obj.get("allowVolumeExpansion"))
    policy, mode = obj.get("reclaimPolicy", "Delete"), obj.get("volumeBindingMode", "Immediate")
    return [obj.get("provisioner", ""), policy, mode, expands, age(obj, now)]


def csi_node(obj: JSON, now: float) -> list[Any]:
    return [len(spec_of(obj).get("drivers", ())), age(obj, now)]


def endpoints(obj: JSON, now: float) -> list[Any]:
    found = [
        f"{address.get('ip', '')}:{port.get('port', '')}"
        for subset in obj.get("subsets", ())
        for port in subset.get("ports", ())
        for address in subset.get("addresses", ())
    ]
    return [_some(found, NONE), age(obj, now)]


def endpoint_slice(obj: JSON, now: float) -> list[Any]:
    ports = [str(port.get("port", "*")) for port in obj.get("ports", ())]
    hosts = [host for endpoint in obj.get("endpoints", ()) for host in endpoint.get("addresses", ())]
    return [obj.get("addressType", ""), _some(ports, _UNSET), _some(hosts, _UNSET), age(obj, now)]


def _some(found: list[str], nothing: str) -> str:
    more = f" + {len(found) - _SHOWN} more..." if len(found) > _SHOWN else ""
    return ",".join(found[:_SHOWN]) + more if found else nothing
