"""Refusals of the API server, as the Status objects that Kubernetes clients understand.

Codes, reasons and wording follow kube-apiserver 1.36 (`k8s.io/apimachinery/pkg/api/errors`). Resources and kinds are
named as in its messages: `pods`, `leases.coordination.k8s.io`, `Deployment.apps`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class Cause:
    """One field at fault. `reason` is FieldValueRequired, FieldValueInvalid, FieldValueDuplicate, ..."""

    field: str
    reason: str
    message: str

    def document(self) -> JSON:
        """The entry in a Status's details; a cause that concerns no field has none."""
        entry = {"reason": self.reason, "message": self.message}
        return {**entry, "field": self.field} if self.field else entry


class ApiError(Exception):
    """A request that the server refuses. Raised anywhere below `server.handle`, turned into a reply there."""

    def __init__(
        self, code: int, reason: str, message: str, details: JSON | None = None, metadata: JSON | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.details, self.metadata = details, metadata

    def status(self) -> JSON:
        """The Status object of this refusal."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata or {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        return body


def about(qualified: str, name: str) -> JSON:
    """The details that say which object a Status is about; `kind` holds the resource or kind without its group."""
    kind, _, group = qualified.partition(".")
    return {key: value for key, value in (("name", name), ("group", group), ("kind", kind)) if value}


def not_found(resource: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource} "{name}" not found', about(resource, name))


def already_exists(resource: str, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{resource} "{name}" already exists', about(resource, name))


def conflict(resource: str, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, about(resource, name))


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def forbidden(resource: str, name: str, why: str) -> ApiError:
    message = f'{resource} "{name}" is forbidden: {why}'
    return ApiError(403, "Forbidden", message, about(resource, name))


def not_served(what: str) -> ApiError:
    """Something that kube-apiserver serves and this server does not (yet): said, never answered wrongly."""
    return ApiError(501, "NotImplemented", f"the embedded API server does not serve {what}")


def invalid(kind: str, name: str, causes: Iterable[Cause]) -> ApiError:
    """422 with one cause for each field at fault."""
    found = list(causes)
    texts = [f"{cause.field}: {cause.message}" if cause.field else cause.message for cause in found]
    summary = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = {**about(kind, name), "causes": [cause.document() for cause in found]}
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {summary}', details)
