"""A request and its response, free of any transport.

Stands for the `http.Request` that reaches kube-apiserver's handlers and what they write back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuyard_cluster.apiserver.auth.users import ADMIN, User
from gpuyard_cluster.apiserver.errors import bad_request
from gpuyard_cluster.apiserver.storage.watches import Watch

JSON_TYPE = "application/json"
MAX_BODY = 3 * 1024 * 1024
"""Bytes in a body, kube-apiserver's limit."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `path` is percent-decoded, header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: User = ADMIN

    def flag(self, name: str) -> bool | None:
        """A boolean of the query; None when it is not there. As on kube-apiserver all but "false" and "0" is true."""
        text = self.query.get(name)
        return None if text is None else text.lower() not in ("false", "0")

    def number(self, name: str) -> int | None:
        """A whole number of the query; None when it is not there."""
        text = self.query.get(name)
        if text is None or text == "":
            return None
        try:
            return int(text)
        except ValueError:
            raise bad_request(
                f'invalid value "{text}" for the query parameter {name}: not a number'
            ) from None

    @property
    def content_type(self) -> str:
        """The media type of the body, without parameters."""
        return self.headers.get("content-type", JSON_TYPE).partition(";")[0].strip().lower()

    @property
    def mutating(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class Response:
    """The answer: a whole body, or a watch whose events follow for as long as it is open."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    watch: Watch | None = None
