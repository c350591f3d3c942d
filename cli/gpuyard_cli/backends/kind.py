"""A scenario on a real cluster: kube-apiserver, kube-scheduler, kubelets, containers."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpuyard.writes import JSON, Write
from gpuyard_cli.backends.kind_faults import Refusals
from gpuyard_cli.backends.kind_roles import marked
from gpuyard_cli.backends.kind_yard import LOOK_SECONDS, KindYard
from gpuyard_cli.backends.live_accounts import LiveAccounts
from gpuyard_cli.connecting.extender_proxy import ExtenderProxy
from gpuyard_cli.inputs import InvalidInputError, documents
from gpuyard_cli.scenarios import auditing, requests, runner
from gpuyard_cli.scenarios.auditing import Audited
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.injections import DriverFault, RefusedBinding
from gpuyard_cli.scenarios.observation import Snapshot
from gpuyard_cli.scenarios.runner import Outcome
from gpuyard_cli.scenarios.yard_files import load_yard
from gpuyard_kube.http import HttpApi
from gpuyard_kube.servers import NoServerError

_CLOSED: Final = {
    401: "get a kubeconfig whose user the cluster knows",
    503: "start it, or name another one {where}",
}
"""What mends it when not even the version is told."""


class KindBackend:
    """`backends.Backend` over the API server of a real cluster, whose workers play the yard."""

    name = "kind"

    def __init__(self, yard: KindYard) -> None:
        self._yard, self._refusals, self._extender = yard, Refusals(yard), ExtenderProxy(yard.api)
        self._accounts = LiveAccounts(yard.api)
        self._hurt = set[DriverFault]()
        self._cluster_wide = list[str]()
        """The paths of what was made outside of namespaces."""

    def now(self) -> float:
        return self._yard.runtime.now()

    async def apply(self, obj: JSON) -> None:
        path = await requests.create(self._yard.api, self._refusals.marked(marked(obj)))
        if "/namespaces/" not in path:
            self._cluster_wide.append(path)

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        await requests.delete(self._yard.api, kind, namespace, name)

    async def join(self, node: str) -> None:
        await self._yard.uncordon(node)

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        await self._refusals.refuse(namespace, fault)

    async def hurt(self, fault: DriverFault) -> None:
        fault = replace(fault, node=self._yard.workers[fault.node])
        self._hurt.add(replace(fault, text=None))
        await requests.hurt(self._yard.api, fault)

    async def reconfigure(self, yard: Path) -> None:
        [document] = documents(yard)
        await self._yard.reconfigure(load_yard(yard), document)

    async def pass_on(self) -> bool:
        await self._yard.runtime.sleep_until(self.now() + LOOK_SECONDS)
        return True

    async def snapshot(self, namespace: str) -> Snapshot:
        seen = await requests.snapshot(self._yard.api, namespace)
        await self._refusals.watch(seen.pods)
        nodes = tuple(filter(self._plays, seen.nodes))
        # What is said of no node is said of all of them, or of the gang.
        names = {"", *(node["metadata"]["name"] for node in nodes)}
        explained: dict[str, JSON] = {}
        for pod in requests.waiting(seen.pods, namespace):
            reply = await self._extender.ask(f"/v1/pods/{namespace}/{pod}/explain")
            if reply.ok:
                kept = [verdict for verdict in reply.body["nodes"] if verdict["node"] in names]
                explained[pod] = {**reply.body, "nodes": kept}
        return replace(seen, nodes=nodes, explained=explained)

    async def audit(self) -> Audited:
        return await auditing.look(self._accounts)

    async def end(self) -> None:
        """Undo what the scenario asked for beyond its namespace."""
        async with AsyncExitStack() as undo:
            for mended in self._hurt:
                undo.push_async_callback(requests.hurt, self._yard.api, mended)
            for path in self._cluster_wide:
                undo.push_async_callback(self._yard.api.send, Write("DELETE", path))
            undo.push_async_callback(self._refusals.end)

    def _plays(self, node: JSON) -> bool:
        """Whether a node is one of the yard's, and there already."""
        cordoned = (node.get("spec") or {}).get("unschedulable")
        return node["metadata"]["name"] in self._yard.workers.values() and not cordoned


@asynccontextmanager
async def connected(kubeconfig: str | None = None, context: str | None = None) -> AsyncIterator[HttpApi]:
    """The API server of a kubeconfig, for as long as the block lasts.

    InvalidInputError when there is none, when it does not answer, or does not know who asks.
    """
    where = "in KUBECONFIG" if kubeconfig is None else "with --kubeconfig"  # `run` has no such flag
    try:
        api = await HttpApi.from_kubeconfig(kubeconfig, context)
    except NoServerError as error:
        remedy = "create it with kind-config.yaml" if context else f"name one {where}"
        raise InvalidInputError("kubeconfig", context or "", str(error), remedy) from error
    try:
        answer = await api.read("/version")
        if answer.status in _CLOSED:
            remedy = _CLOSED[answer.status].format(where=where)
            raise InvalidInputError("cluster", "", answer.reason.rstrip("."), remedy)
        yield api
    finally:
        await api.close()


async def run(
    api: HttpApi,
    example: Example,
    begin: Callable[[str], None] = lambda _name: None,
    like: Outcome | None = None,
) -> Outcome:
    """Run an example on a real cluster; see `runner.run`. The cluster is left as it was."""
    [document] = documents(example.folder / "yard.yaml")
    yard = KindYard(api, example.nodes, document)
    backend = KindBackend(yard)
    async with AsyncExitStack() as undo:  # each step, also where the one before it fails
        undo.push_async_callback(yard.restore)
        undo.push_async_callback(backend.end)
        await yard.prepare(own_namespace(example))
        return await runner.run(example, backend, begin, like)


def own_namespace(example: Example) -> str:
    """The namespace that an example makes, and that can go when it ends. InvalidInputError when it makes none."""
    name = example.scenario.namespace
    made = {
        obj["metadata"]["name"]
        for objs in example.objects.values()
        for obj in objs
        if obj["kind"] == "Namespace"
    }
    if name not in made:
        problem = f"{name!r} is not made by the example, and a real cluster has its own use for it"
        raise InvalidInputError(
            example.folder / "scenario.yaml", "namespace", problem, "add a Namespace object"
        )
    return name
