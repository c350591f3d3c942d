"""The cluster in real time, over its real protocols, in one process.

HTTP between everyone and the API server and between scheduler and extender, gRPC over unix sockets between kubelets
and device plugins, kopf in a thread of its own. Scheduler, kubelets and controllers call the API server directly.
Above 50 nodes everybody does, and calls each other so, through the same ports: protocols took half of all time.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from gpuyard.narration import Beat
from gpuyard.writes import JSON
from gpuyard.yard import YardNode
from gpuyard_cluster.apiserver import http
from gpuyard_cluster.apiserver.auth.users import User
from gpuyard_cluster.apiserver.direct import DirectApi, Feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.apiserver.webhook_calls import call_webhook
from gpuyard_cluster.logs import LogLine, NoLogsError
from gpuyard_cluster.scheduler.event_handlers import RESOURCES as SCHEDULER_RESOURCES
from gpuyard_cluster.scheduler.extenders import ExtenderClient, ExtenderConfig
from gpuyard_cluster.scheduler.http_extender import HttpExtenderClient
from gpuyard_cluster.wiring import controllers, direct_node, identities, manifests, parts
from gpuyard_cluster.wiring.direct import DirectExtender
from gpuyard_cluster.wiring.direct_node import DirectNode
from gpuyard_cluster.wiring.extender_server import ExtenderServer
from gpuyard_cluster.wiring.feeding import on_loop
from gpuyard_cluster.wiring.node import EmbeddedNode
from gpuyard_cluster.wiring.operator import OperatorThread
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.security import Door
from gpuyard_extender.ledger.ledger import PATHS as EXTENDER_RESOURCES
from gpuyard_kube.api import Observer
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_kube.servers import Server
from gpuyard_operator.cache import PATHS as OPERATOR_RESOURCES


class EmbeddedYard:
    """A cluster with the nodes of a yard, for as long as the `async with` block lasts.

    On entering: InvalidConfigError for a plugin configuration that cannot be used, OSError for a port that cannot be
    had, OperatorFailedError when the operator could not start.
    """

    def __init__(
        self, nodes: Sequence[YardNode], options: Options = Options(), door: Door | None = None
    ) -> None:
        self._options, self._yard = options, {node.name: node for node in nodes}
        self._door = door or Door()
        self.runtime = AsyncioRuntime()
        self.server = APIServer(self.runtime.now, options.seed, self._logs, webhooks=call_webhook)
        self.api = DirectApi(self.server, "kubectl")
        self.nodes: dict[str, EmbeddedNode | DirectNode] = {}
        self._direct = DirectExtender(self.runtime) if len(nodes) > direct_node.ABOVE else None
        self._ends = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._ends.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ends.aclose()

    @property
    def url(self) -> str:
        """Where the API server listens."""
        return self._listener.url

    @property
    def extender_url(self) -> str:
        return self._extender.url

    async def join(self, name: str) -> None:
        """Let a node of the yard appear: its kubelet and its device plugin start."""
        node = self._made_node(name)
        await self._ends.enter_async_context(node)
        self.nodes[name] = node

    def reconfigure(self, nodes: Sequence[YardNode]) -> None:
        """These nodes have other GPUs, or other configurations of their plugins, under running pods."""
        for node in nodes:
            self._yard[node.name] = node
            if node.name in self.nodes:
                self.nodes[node.name].plugin.reconfigure(parts.plugin_spec(node, self._options))

    def _made_node(self, name: str) -> EmbeddedNode | DirectNode:
        if self._direct is not None:
            return DirectNode(self._yard[name], self.server, self._options)
        api = self._http.bearing(self._door.proof(identities.device_plugin(name)))
        described = partial(self._yard.__getitem__, name)
        # Named by number: a unix socket's path may have 107 bytes, which a node's name can use up.
        return EmbeddedNode(described, self._folder / str(len(self.nodes)), self.server, api, self._options)

    async def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="yard-"))
        self._ends.callback(shutil.rmtree, self._folder, ignore_errors=True)
        await manifests.install(self.api)
        self.server.authentication = self._door.authentication
        self._listener = await http.serve(self.server, port=self._door.port, tls=self._door.server_context())
        self._ends.push_async_callback(self._listener.close)
        self._http = HttpApi(Server(self.url, self._door.client_context()))
        self._ends.push_async_callback(self._http.close)
        self._ends.push_async_callback(self.runtime.close)
        await self._start_extender()
        operator = self._start_operator()
        self._start_scheduler()
        controllers.start(self.server, self.runtime, self._feed)
        for node in self._yard.values():
            if not node.later:
                await self.join(node.name)
        if operator is not None:
            await operator.ready()

    async def _start_extender(self) -> None:
        api = self._reached("gpuyard-extender", identities.EXTENDER)
        extender = parts.extender(api, self.runtime, self._options)
        self._extender = await ExtenderServer.start(extender, self.runtime, self.api, self._options)
        self._ends.push_async_callback(self._extender.close)
        if self._direct is not None:
            self._direct.lives(extender, self.runtime)
        if isinstance(api, HttpApi):
            self.runtime.spawn(Informer(api, extender, EXTENDER_RESOURCES).run(), "extender informer")
        else:
            self._feed(extender, EXTENDER_RESOURCES)

    def _reached(self, agent: str, user: User) -> HttpApi | DirectApi:
        """The API server, the way a component reaches it."""
        if self._direct is None:
            return self._http.bearing(self._door.proof(user))
        return DirectApi(self.server, agent, user)

    def _start_operator(self) -> OperatorThread | None:
        """The thread to wait for; None in a large cluster."""
        if self._direct is not None:
            text = f"more than {direct_node.ABOVE} nodes: all parts call each other directly"
            self._options.narrate(Beat("cluster", text))
            direct = DirectApi(self.server, "gpuyard-operator", identities.OPERATOR)
            self._feed(parts.operator(direct, self.runtime, self._direct, self._options), OPERATOR_RESOURCES)
            return None
        api = Server(self.url, self._door.client_context(), extra=self._door.proof(identities.OPERATOR))
        operator = OperatorThread(api, self._extender.url, self._options)
        self._ends.push_async_callback(operator.end)
        return operator

    def _start_scheduler(self) -> None:
        api = DirectApi(self.server, "kube-scheduler", identities.SCHEDULER)
        scheduler = parts.scheduler(api, self.runtime, self._extender_client(), self._options)
        self._feed(scheduler, SCHEDULER_RESOURCES)
        scheduler.start()

    def _extender_client(self) -> ExtenderClient:
        if self._direct is not None:
            return self._direct
        client = HttpExtenderClient(self._extender.url, ExtenderConfig())
        self._ends.push_async_callback(client.close)
        return client

    def _feed(self, observer: Observer, resources: Mapping[str, str]) -> Feed:
        feed = on_loop(self.server, observer, resources)
        self._ends.callback(feed.stop)
        return feed

    def _logs(self, pod: JSON, container: str, previous: bool) -> Sequence[LogLine]:
        node, metadata = self.nodes.get(pod["spec"].get("nodeName", "")), pod["metadata"]
        if node is None:
            raise NoLogsError
        return node.kubelet.logs(metadata["namespace"], metadata["name"], container, previous=previous)
