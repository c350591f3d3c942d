"""The node object bears what the plugin says: the inventory annotation and GFD's labels.

Stands for gpu-feature-discovery's writing half. It writes only what differs, writes again what somebody removed, and
removes only labels that its own last inventory explains.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_device_plugin.publishing import gfd
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

FIRST_RETRY, LAST_RETRY = 0.5, 30.0
"""Seconds after a write that failed: doubled from the first to the last."""


def difference(node: JSON, inventory: Inventory, problem: str = "") -> JSON:
    """The merge patch that makes the Node object say what is so; empty when it does.

    `problem` says what is wrong with the configuration; empty: nothing is.
    """
    metadata = node.get("metadata") or {}
    notes, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    before = annotations.read_inventory(notes.get(vocabulary.INVENTORY))
    wanted: dict[str, Any] = dict.fromkeys(gfd.labels(before)) if before is not None else {}
    wanted |= gfd.labels(inventory)
    said = {
        vocabulary.INVENTORY: annotations.write_inventory(inventory),
        vocabulary.CONFIG_PROBLEM: problem or None,
    }
    changed = {
        "annotations": {key: text for key, text in said.items() if notes.get(key) != text},
        "labels": {key: value for key, value in wanted.items() if labels.get(key) != value},
    }
    kept = {key: value for key, value in changed.items() if value}
    return {"metadata": kept} if kept else {}


@dataclass(slots=True)
class Publication:
    """Keeps one Node object saying what `current` gives: the inventory, and a problem of the configuration or "".

    `seen` is the object as last heard of.
    """

    node: str
    api: Api
    runtime: Runtime
    current: Callable[[], tuple[Inventory, str]]
    seen: JSON | None = None
    _busy: bool = field(default=False, init=False)

    @property
    def path(self) -> str:
        return f"/api/v1/nodes/{self.node}"

    @property
    def is_due(self) -> bool:
        """Whether there is a node to write on and nobody is about to."""
        return not self._busy and self.seen is not None and bool(difference(self.seen, *self.current()))

    async def write(self) -> None:
        """Write until the node says what is so; a node that does not exist is left alone."""
        if self._busy:
            return
        self._busy = True
        try:
            pause = FIRST_RETRY
            while not await self._written():
                await self.runtime.sleep_until(self.runtime.now() + pause)
                pause = min(pause * 2, LAST_RETRY)
        finally:
            self._busy = False

    async def _written(self) -> bool:
        if self.seen is None:
            found = await self.api.read(self.path)
            if not found.ok:
                return found.status == 404
            self.seen = found.body
        if not (patch := difference(self.seen, *self.current())):
            return True
        reply = await self.api.send(Write("PATCH", self.path, patch, PatchType.MERGE))
        # Whatever refused it: look at the node itself before the next try.
        self.seen = reply.body if reply.ok else None
        return reply.status == 404 or (self.seen is not None and not difference(self.seen, *self.current()))
