"""Takes GPUYard from a cluster, in the order in which nothing stays held: the shell around `uninstalling`.

What acts goes first, and is waited for: a device plugin that still ran would write its labels anew. Each step can be
done again: what is gone already is passed over in silence.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.writes import JSON
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.uninstall import removals as uninstalling
from gpuyard_cli.uninstall.removals import Removal
from gpuyard_cluster.controllers import discovered
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

PATIENCE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.5
_PARTS: Final = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"
_PART: Final = "app.kubernetes.io/part-of=gpuyard"


@dataclass(slots=True)
class Uninstallation:
    """One run. `objects` are those of the manifests; `tell` gets a line for each thing done, or to be done."""

    api: Api
    runtime: Runtime
    objects: Iterable[JSON]
    tell: Callable[[str], None]
    dry: bool = False
    failed: list[str] = field(default_factory=list)
    """What could not be done, and why."""

    async def run(self, *, definitions: bool) -> None:
        """`definitions`: also the CRDs, and with them all PodGroups.

        InvalidInputError when the cluster cannot be asked.
        """
        first, rest, crds = uninstalling.in_phases(self.objects)
        await self._remove(uninstalling.of_objects(first, await self._paths(first)))
        await self._until_nothing_acts()
        await self._remove(uninstalling.of_pods(await self._items("/api/v1/pods")))
        await self._remove(uninstalling.of_reservations(await self._items(reservations.PATH)))
        await self._remove(uninstalling.of_nodes(await self._items("/api/v1/nodes")))
        last = [*rest, *crds] if definitions else rest
        await self._remove(uninstalling.of_objects(last, await self._paths(last)))

    async def _remove(self, removals: Iterator[Removal]) -> None:
        for removal in removals:
            write = removal.write
            if self.dry:
                if (await self.api.read(write.path)).ok:
                    self.tell(removal.text)
                continue
            reply = await self.api.send(write)
            if reply.ok:
                self.tell(removal.text)
            elif reply.status != 404:
                self.failed.append(f"{removal.text}: not done: {reply.reason}")

    async def _until_nothing_acts(self) -> None:
        deadline = self.runtime.now() + PATIENCE_SECONDS
        while not self.dry and await self._items(_PARTS, labelSelector=_PART):
            if self.runtime.now() > deadline:
                problem = f"parts still run after {PATIENCE_SECONDS:.0f} s"
                raise InvalidInputError(
                    "cluster", vocabulary.NAMESPACE, problem, "see its pods, then run this again"
                )
            await self.runtime.sleep_until(self.runtime.now() + _LOOK_SECONDS)

    async def _items(self, path: str, **query: str) -> list[JSON]:
        """The objects of a collection; none where it is not served."""
        reply = await self.api.read(path, **query)
        if not reply.ok and reply.status != 404:
            raise InvalidInputError(
                "cluster", path, reply.reason, "run this as an administrator of the cluster"
            )
        return list(reply.body.get("items") or ())

    async def _paths(self, objects: Iterable[JSON]) -> dict[str, str]:
        """kind -> the path of its collection, with {namespace} where there is one."""
        found: dict[str, str] = {}
        for version, kind in dict.fromkeys((obj["apiVersion"], obj["kind"]) for obj in objects):
            try:
                collection = await discovered.of_kind(self.api, version, kind)
            except ConnectionError as error:
                raise InvalidInputError("cluster", version, str(error), "check --kubeconfig") from error
            if collection is not None:
                found[kind] = collection.path("{namespace}")
        return found
