"""Requests to the API server as values, so that a core can decide them and a shell can send them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = dict[str, Any]
"""A decoded JSON object, such as a Kubernetes object."""


class PatchType(enum.StrEnum):
    """The content types of the three patches that every Kubernetes API server takes."""

    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    JSON = "application/json-patch+json"


@dataclass(frozen=True, slots=True)
class Write:
    """One mutating request.

    `method` is POST, PUT, PATCH or DELETE; `path` starts with `/api` or `/apis` and names the object (for a
    POST the collection or subresource); `patch` is the content type of a PATCH and None otherwise.
    """

    method: str
    path: str
    body: JSON | list[Any] | None = None
    patch: PatchType | None = None
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """The API server's answer: HTTP status and decoded body (a Status object when it refused)."""

    status: int
    body: JSON

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """Why the server refused, in its own words; empty when it did not."""
        return "" if self.ok else str(self.body.get("message", f"HTTP {self.status}"))
