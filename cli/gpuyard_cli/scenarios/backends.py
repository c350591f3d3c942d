"""The port between a scenario and the cluster that it runs on."""

from pathlib import Path
from typing import Protocol

from gpuyard.writes import JSON
from gpuyard_cli.scenarios.auditing import Audited
from gpuyard_cli.scenarios.injections import DriverFault, RefusedBinding
from gpuyard_cli.scenarios.observation import Snapshot


class RefusedError(Exception):
    """The API server refused an object of the example."""


class Backend(Protocol):
    """A running cluster with the yard's nodes."""

    name: str

    def now(self) -> float:
        """The cluster's time, in seconds since the epoch."""

    async def apply(self, obj: JSON) -> None:
        """Create one object. RefusedError when the API server will not have it."""

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        """Ask for the deletion of one object."""

    async def join(self, node: str) -> None:
        """Let a node of the yard appear."""

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        """Inject a fault of the API server."""

    async def hurt(self, fault: DriverFault) -> None:
        """Inject a fault of a driver. RefusedError when there is no such node."""

    async def reconfigure(self, yard: Path) -> None:
        """The nodes have other GPUs from now on, or other configurations of their plugins, as a yard.yaml says."""

    async def pass_on(self) -> bool:
        """Let a little happen; False when nothing will ever happen again by itself."""

    async def audit(self) -> Audited:
        """All accounts of who holds which devices, compared as they are now."""

    async def snapshot(self, namespace: str) -> Snapshot:
        """Everything as it is now."""
