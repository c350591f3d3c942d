"""The embedded API server with the controllers that conformance checks expect to find."""

from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.apiserver.webhook_calls import call_webhook
from gpuyard_cluster.controllers.garbage_collector import GarbageCollector
from gpuyard_cluster.controllers.namespaces import NamespaceController
from gpuyard_cluster.wiring.feeding import on_loop
from gpuyard_kube.runtime import AsyncioRuntime


class Cluster:
    """It lives on the running event loop; close its runtime afterwards."""

    def __init__(self) -> None:
        self.runtime = AsyncioRuntime()
        self.server = APIServer(self.runtime.now, webhooks=call_webhook)
        api = DirectApi(self.server)
        collector = GarbageCollector(api, self.runtime, self.server.collections())
        namespaces = NamespaceController(api, self.runtime)
        collected = on_loop(self.server, collector, self.server.collections())
        on_loop(self.server, namespaces, {"namespaces": "/api/v1/namespaces"})

        def collect(resource: str, path: str) -> None:
            collector.follow(resource, path)
            collected.add(resource, path)

        self.server.when_served(collect)
        collector.start()
        namespaces.start()
