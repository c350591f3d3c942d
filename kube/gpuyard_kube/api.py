"""The ports to the API server: requests out, events in."""

from collections.abc import Iterable
from typing import Protocol

from gpuyard.writes import JSON, Reply, Write


class Api(Protocol):
    """Requests to an API server. Neither call raises for an answer of the server, whatever its status.

    A server that cannot be reached is answered as status 503, so that a caller has one way to fail.
    """

    async def send(self, write: Write) -> Reply:
        """Do one write."""

    async def read(self, path: str, **query: str) -> Reply:
        """GET one object or list."""


class Observer(Protocol):
    """Who wants to know the objects of some resources."""

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of `resource` (its plural) as of now: after each list."""

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change since: `event` is ADDED, MODIFIED or DELETED."""
