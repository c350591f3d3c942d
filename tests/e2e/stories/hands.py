"""What is done to a cluster where no request to its API server does it."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from gpuyard.writes import JSON, Reply


class Hands(Protocol):
    """On embedded in tests/e2e/test_stories.py, on a real cluster in tests/e2e/kind/hands.py."""

    async def code(self, namespace: str, pod: str) -> str:
        """The reason code of a pod that waits; empty when there is none yet."""

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        """A question to the extender."""

    async def measured(self) -> list[str]:
        """What each extender says that it measures."""

    async def restart_kubelet(self, node: str) -> None:
        """The kubelet ends and starts anew; done when the device plugin has registered with the new one."""

    async def kill_plugin(self, node: str) -> None:
        """A node's device plugin dies without a word; done when another one serves the kubelet."""

    def without_plugin(self, node: str) -> AbstractAsyncContextManager[None]:
        """A node's device plugin is sent away, and comes back at the end of the block."""

    def second_plugin(self, node: str) -> AbstractAsyncContextManager[None]:
        """Another device plugin serves a node instead of its own, which serves again after the block."""

    async def sockets(self, node: str) -> list[str]:
        """The names of all that lies in a node's folder for device plugins."""

    async def drain(self, node: str) -> None:
        """Cordon a node and evict what can be evicted."""

    def held_allocations(self, node: str) -> AbstractAsyncContextManager[None]:
        """A node's device plugin answers nobody for as long as the block lasts, and the kubelet waits for it."""
