"""The rules of `metadata`: names, labels, annotations, finalizers, owner references.

Stands for `k8s.io/apimachinery/pkg/api/validation` (ObjectMeta) and `.../util/validation` (DNS names).
"""

import re
from collections.abc import Iterator
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_ANNOTATION_BYTES = 256 * 1024

_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_NAME_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_QUALIFIED_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

_LABEL_NAMED = frozenset({"Namespace", "Service"})
_FINALIZERS = ("foregroundDeletion", "kubernetes", "orphan")
_CORE_KINDS = frozenset(
    {"ConfigMap", "CronJob", "DaemonSet", "Deployment", "Endpoints", "Event", "Job", "Namespace"}
)
_CORE_KINDS |= {"Node", "Pod", "ReplicaSet", "Secret", "Service", "ServiceAccount", "StatefulSet"}
"""Kinds whose finalizers need a domain, if they are not the server's own."""
_PATH_NAMED = frozenset({"ClusterRole", "Event", "ClusterRoleBinding", "Role", "RoleBinding"})


def label_fault(text: str) -> str:
    """Why `text` is no DNS label; empty when it is one."""
    return _too_long(text, 63) or ("" if _LABEL.fullmatch(text) else _LABEL_RULE)


def dns1035_fault(text: str) -> str:
    """Why `text` is no DNS label that begins with a letter; empty when it is one."""
    return _too_long(text, 63) or ("" if _NAME.fullmatch(text) else _NAME_RULE)


def subdomain_fault(text: str) -> str:
    """Why `text` is no DNS subdomain; empty when it is one."""
    return _too_long(text, 253) or ("" if _SUBDOMAIN.fullmatch(text) else _SUBDOMAIN_RULE)


def qualified_fault(text: str) -> str:
    """Why `text` is no qualified name such as `example.com/key` (label keys, resources, gates); else empty."""
    prefix, slash, name = text.rpartition("/")
    if slash and not prefix:
        return "prefix part must be non-empty"
    if slash and (fault := subdomain_fault(prefix)):
        return f"prefix part {fault}"
    if len(name) > 63:
        return "name part must be no more than 63 bytes"
    return "" if _QUALIFIED.fullmatch(name) else _QUALIFIED_RULE


def label_value_fault(text: str) -> str:
    """Why `text` cannot be the value of a label; else empty."""
    return _too_long(text, 63) or ("" if not text or _QUALIFIED.fullmatch(text) else _VALUE_RULE)


def label_faults(labels: JSON, field: str) -> Iterator[Cause]:
    """Faults of a map of labels, such as metadata.labels or a node selector."""
    for key, value in labels.items():
        if fault := qualified_fault(key):
            yield causes.invalid(field, key, fault)
        if fault := label_value_fault(str(value)):
            yield causes.invalid(field, value, fault)


def validate_metadata(kind: str, metadata: JSON) -> list[Cause]:
    """Faults of the metadata of a new or changed object of `kind`."""
    return [
        *_name_faults(kind, metadata),
        *label_faults(metadata.get("labels") or {}, "metadata.labels"),
        *_annotation_faults(metadata.get("annotations") or {}),
        *_finalizer_faults(kind, metadata.get("finalizers") or []),
        *_owner_faults(metadata.get("ownerReferences") or []),
    ]


def validate_metadata_update(kind: str, old: JSON, new: JSON) -> list[Cause]:
    """Faults of changed metadata, where `old` is what is stored."""
    found = validate_metadata(kind, new)
    for field in ("name", "namespace", "uid", "creationTimestamp"):
        if new.get(field) != old.get(field):
            found.append(causes.invalid(f"metadata.{field}", new.get(field), "field is immutable"))
    added = set(new.get("finalizers") or []) - set(old.get("finalizers") or [])
    if added and old.get("deletionTimestamp"):
        detail = "no new finalizers can be added if the object is being deleted, found new finalizers"
        found.append(causes.forbidden("metadata.finalizers", f"{detail} {causes.shown(sorted(added))}"))
    return found


def _name_faults(kind: str, metadata: JSON) -> Iterator[Cause]:
    name = metadata.get("name")
    if (prefix := metadata.get("generateName", "").rstrip("-")) and (fault := _name_fault(kind, prefix)):
        yield causes.invalid("metadata.generateName", metadata["generateName"], fault)
    if not name:
        yield causes.required("metadata.name", "name or generateName is required")
    elif fault := _name_fault(kind, name):
        yield causes.invalid("metadata.name", name, fault)


def _name_fault(kind: str, name: str) -> str:
    if kind in _PATH_NAMED:
        bad = name in (".", "..") or "/" in name or "%" in name
        return "may not be '.' or '..', or contain '/' or '%'" if bad else ""
    return (label_fault if kind in _LABEL_NAMED else subdomain_fault)(name)


def _annotation_faults(annotations: JSON) -> Iterator[Cause]:
    for key in annotations:
        if fault := qualified_fault(key.lower()):
            yield causes.invalid("metadata.annotations", key, fault)
    if (
        sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())
        > _ANNOTATION_BYTES
    ):
        yield causes.too_long("metadata.annotations", _ANNOTATION_BYTES)


def _finalizer_faults(kind: str, finalizers: list[str]) -> Iterator[Cause]:
    for index, finalizer in enumerate(finalizers):
        if fault := qualified_fault(finalizer):
            yield causes.invalid("metadata.finalizers", finalizer, fault)
        elif "/" not in finalizer and finalizer not in _FINALIZERS and kind in _CORE_KINDS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield causes.invalid(f"metadata.finalizers[{index}]", finalizer, detail)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        yield causes.invalid("metadata.finalizers", finalizers, detail)


def _owner_faults(owners: list[JSON]) -> Iterator[Cause]:
    for owner in owners:
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                # The real server names the list here, not the item.
                yield causes.invalid(f"metadata.ownerReferences.{key}", "", f"{key} must not be empty")
    controllers: list[Any] = [owner.get("name") for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        detail = 'Only one reference can have Controller set to true. Found "true" in references for '
        detail += " and ".join(str(name) for name in controllers)
        yield causes.invalid("metadata.ownerReferences", owners, detail)


def _too_long(text: str, limit: int) -> str:
    return f"must be no more than {limit} bytes" if len(text.encode()) > limit else ""
