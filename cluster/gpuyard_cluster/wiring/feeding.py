"""Events of the API server to an observer in the same process, on the running event loop."""

import asyncio
from collections.abc import Callable, Mapping

from gpuyard_cluster.apiserver.direct import Feed, feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_kube.api import Observer


def on_loop(server: APIServer, observer: Observer, resources: Mapping[str, str]) -> Feed:
    """Feed `observer`; each event is a callback of its own, so that no one is called from within a write."""
    loop = asyncio.get_running_loop()

    def deliver(_name: str, call: Callable[[], None]) -> None:
        loop.call_soon(call)

    return feed(server, observer, resources, deliver)
