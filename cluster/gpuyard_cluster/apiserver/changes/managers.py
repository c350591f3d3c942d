"""The entries of managedFields: who manages which fields of an object.

Stands for `k8s.io/apimachinery/pkg/util/managedfields`. Law: one entry for each manager, operation, subresource
and, for updates, API version; an entry without fields is gone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.changes import fieldsets
from gpuyard_cluster.apiserver.changes.fieldsets import Fields
from gpuyard_cluster.apiserver.errors import ApiError

APPLY, UPDATE = "Apply", "Update"


@dataclass(frozen=True, slots=True)
class Manager:
    """Who writes: a name, by which operation (APPLY or UPDATE), in which API version, through which subresource."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes two entries one. An applier stays the same across API versions."""
        version = self.api_version if self.operation == UPDATE else ""
        return self.name, self.operation, version, self.subresource

    def __str__(self) -> str:
        """As conflicts name it."""
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields of one manager. `time` is when they last changed, in RFC 3339."""

    manager: Manager
    fields: Fields
    time: str

    def document(self) -> JSON:
        """The entry as it stands in an object."""
        manager = self.manager
        document: JSON = {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": manager.api_version,
        }
        document |= {"time": self.time} if self.time else {}
        document |= {"fieldsType": "FieldsV1", "fieldsV1": self.fields}
        return document | ({"subresource": manager.subresource} if manager.subresource else {})


def trusted(documents: Iterable[JSON]) -> list[Entry]:
    """The entries of an object that the server stored itself."""
    return [_entry(document) for document in documents]


def entries_of(documents: Any) -> list[Entry]:
    """The entries that a client wrote; what is no entry is passed over."""
    return (
        trusted(document for document in documents if _sound(document)) if isinstance(documents, list) else []
    )


def _entry(document: JSON) -> Entry:
    subresource = document.get("subresource", "")
    manager = Manager(document["manager"], document["operation"], document["apiVersion"], subresource)
    return Entry(manager, document["fieldsV1"], document.get("time", ""))


def _sound(document: Any) -> bool:
    if not isinstance(document, dict) or document.get("operation") not in (APPLY, UPDATE):
        return False
    texts = [document.get("manager"), document.get("apiVersion")]
    texts += [document.get(key, "") for key in ("subresource", "time")]
    return all(isinstance(text, str) for text in texts) and fieldsets.well_formed(document.get("fieldsV1"))


def documents(entries: Iterable[Entry]) -> list[JSON]:
    """managedFields in the order that kube-apiserver keeps: appliers first, then by time and name."""
    held = [entry for entry in entries if entry.fields]
    held.sort(key=lambda entry: (entry.manager.operation, entry.time, entry.manager.identity))
    return [entry.document() for entry in held]


def without(entries: Iterable[Entry], fields: Fields) -> list[Entry]:
    """The entries, none of which manages any of `fields` any more."""
    return [replace(entry, fields=fieldsets.difference(entry.fields, fields)) for entry in entries]


def conflict(entries: Sequence[Entry], wanted: Fields) -> ApiError | None:
    """409 where others manage fields that an apply wants to change; it names each manager and field."""
    found = [
        (str(entry.manager), path)
        for entry in sorted(entries, key=lambda entry: entry.manager.identity)
        for path in fieldsets.paths(fieldsets.intersection(entry.fields, wanted))
    ]
    if not found:
        return None
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
        for manager, path in found
    ]
    return ApiError(409, "Conflict", _conflict_text(found), {"causes": causes})


def _conflict_text(found: Sequence[tuple[str, str]]) -> str:
    if len(found) == 1:
        manager, path = found[0]
        return f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    lines = []
    for manager in dict.fromkeys(manager for manager, _ in found):
        lines.append(f"conflicts with {manager}:")
        lines += [f"- {path}" for other, path in found if other == manager]
    return f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)
