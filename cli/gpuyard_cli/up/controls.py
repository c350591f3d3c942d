"""The buttons of the live yard: examples are submitted to the cluster of `gpuyard up`, and faults injected there.

Law: what a button does, kubectl and `gpuyard fault` do, too: it writes objects, and nothing else.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from gpuyard.writes import Write
from gpuyard_cli import fault_command
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios import examples, injections, requests
from gpuyard_cli.scenarios.backends import RefusedError
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.injections import DriverFault
from gpuyard_extender.web.ui.controls import UnwantedError
from gpuyard_kube.api import Api

_GONE: Final = (200, 202, 404)


class UpControls:
    """`Controls` by an API server, with the examples of a folder."""

    def __init__(self, api: Api, folder: Path) -> None:
        self._api, self._folder = api, folder
        self._created: dict[str, list[str]] = {}

    @cached_property
    def _examples(self) -> dict[str, Example]:
        """Those that can be read."""
        found = {}
        for folder in sorted(path.parent for path in self._folder.glob("*/scenario.yaml")):
            try:
                found[folder.name] = examples.load(folder)
            except InvalidInputError:
                continue  # `gpuyard run` says what is wrong with it
        return found

    def examples(self) -> Sequence[tuple[str, str]]:
        return [(name, example.scenario.title) for name, example in self._examples.items()]

    async def submit(self, example: str) -> None:
        created = self._created.setdefault(self._known(example).name, [])
        if created:
            raise UnwantedError(f"{example} is there already; remove it first")
        for file in self._known(example).objects.values():
            for obj in file:
                try:
                    created.append(await requests.create(self._api, obj))
                except RefusedError as error:
                    raise UnwantedError(str(error)) from error

    async def withdraw(self, example: str) -> None:
        for path in reversed(self._created.pop(self._known(example).name, [])):
            reply = await self._api.send(Write("DELETE", path))
            if reply.status not in _GONE:
                raise UnwantedError(f"{path}: {reply.reason}")

    async def fault(self, node: str, gpu: int, xid: int | None) -> None:
        await self._inject(injections.gpu_fault(node, gpu, xid))

    async def link(self, node: str, ends: tuple[int, int], *, down: bool) -> None:
        await self._inject(injections.link_fault(node, ends, down=down))

    async def _inject(self, fault: DriverFault) -> None:
        try:
            await fault_command.inject(self._api, fault)
        except InvalidInputError as error:
            raise UnwantedError(str(error)) from error

    def _known(self, name: str) -> Example:
        if name not in self._examples:
            raise UnwantedError(f"there is no example {name}")
        return self._examples[name]
