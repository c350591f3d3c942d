"""What can be done from the page, where anything can: on an embedded cluster."""

from collections.abc import Sequence
from typing import Protocol


class UnwantedError(Exception):
    """It cannot be done; the text says why, and what to do instead."""


class Controls(Protocol):
    """The hands of the page. Each method raises UnwantedError."""

    def examples(self) -> Sequence[tuple[str, str]]:
        """Name and title of each example that can be submitted."""

    async def submit(self, example: str) -> None:
        """Create the objects of an example."""

    async def withdraw(self, example: str) -> None:
        """Delete what an example created."""

    async def fault(self, node: str, gpu: int, xid: int | None) -> None:
        """Let a GPU report an XID; None: let it recover."""

    async def link(self, node: str, ends: tuple[int, int], *, down: bool) -> None:
        """Let the NVLink between two GPUs fail, or recover."""
