"""The controllers of the embedded cluster, fed and started.

Stands for kube-controller-manager. What is made while it runs, such as custom resources, is collected as garbage too.
"""

from collections.abc import Callable, Mapping

from gpuyard_cluster.apiserver.direct import DirectApi, Feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.wiring import identities, parts
from gpuyard_kube.api import Observer
from gpuyard_kube.runtime import Runtime

Feeding = Callable[[Observer, Mapping[str, str]], Feed]
"""Lets an observer see resources from now on."""


def start(server: APIServer, runtime: Runtime, feed: Feeding) -> None:
    """They work for as long as the runtime and the feeds live."""
    api = DirectApi(server, "kube-controller-manager", identities.CONTROLLER_MANAGER)
    collector = parts.garbage_collector(api, runtime, server.collections())
    collected = feed(collector, server.collections())

    def collect(resource: str, path: str) -> None:
        collector.follow(resource, path)
        collected.add(resource, path)

    server.when_served(collect)
    namespaces = parts.namespace_controller(api, runtime)
    feed(namespaces, parts.NAMESPACE_RESOURCES)
    workloads = parts.controller_manager(api, runtime)
    feed(workloads, parts.CONTROLLER_RESOURCES)
    for controller in (collector, namespaces, workloads):
        controller.start()
