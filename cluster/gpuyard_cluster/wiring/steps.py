"""The cluster on a clock that is stepped by hand: every part, no thread, no socket, no wall time.

Each event is handed over as an item of its own, so that a learner can stop after each, and a test can let any part
die between any two of its writes: `restart` drops a part's memory and makes it anew from the API and its disk.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpuyard.writes import JSON
from gpuyard.yard import YardNode
from gpuyard_cluster.apiserver.direct import DirectApi, feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.logs import LogLine, NoLogsError
from gpuyard_cluster.scheduler.event_handlers import RESOURCES as SCHEDULER_RESOURCES
from gpuyard_cluster.scopes import Scope
from gpuyard_cluster.wiring import identities, manifests, parts
from gpuyard_cluster.wiring.direct import DirectExtender, DirectPodResources, connect
from gpuyard_cluster.wiring.mortal import MortalApi, Part, Watcher
from gpuyard_cluster.wiring.parts import Options
from gpuyard_device_plugin.service import DevicePlugin, Ports
from gpuyard_extender.ledger.ledger import PATHS as EXTENDER_RESOURCES
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.cache import PATHS as OPERATOR_RESOURCES


class StepsYard:
    """A cluster with the nodes of a yard. InvalidConfigError for a plugin configuration that cannot be used."""

    def __init__(self, nodes: Sequence[YardNode], options: Options = Options()) -> None:
        self.clock = Steps()
        self.server = APIServer(self.clock.now, options.seed, self._logs)
        self.api = DirectApi(self.server, "kubectl")
        self.parts: dict[str, Part] = {}
        self.watchers: list[Watcher] = []
        """Called after each write of a part, with the part's name."""
        self._options = options
        self._nodes = {node.name: node for node in nodes}
        self._disks = {node.name: MemoryDisk() for node in nodes}
        self._pod_resources = {node.name: DirectPodResources() for node in nodes}
        self._links: dict[str, Scope] = {}
        self._extender = DirectExtender(self.clock)
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def join(self, node: str) -> None:
        """Let a node of the yard appear: its kubelet and its device plugin start."""
        self.restart(f"kubelet {node}")
        self.restart(f"plugin {node}")

    def reconfigure(self, nodes: Sequence[YardNode]) -> None:
        """These nodes have other GPUs, or other configurations of their plugins, under running pods."""
        for node in nodes:
            self._nodes[node.name] = node
            if f"plugin {node.name}" in self.parts:
                self.plugin(node.name).reconfigure(parts.plugin_spec(node, self._options))

    def restart(self, name: str) -> None:
        """Start a part, or kill it and start it anew: its memory is lost, its disk and the API are not."""
        if name in self.parts:
            self.parts[name].end()
        maker, resources = self._maker(name)
        scope = Scope(self.clock)
        api = DirectApi(self.server, name.split()[0], identities.of_part(name))
        service = maker(MortalApi(name, api, scope, self.watchers), scope)
        self.parts[name] = Part(service, scope, feed(self.server, service, resources, self._deliver(name)))
        self._introduce(name, service)

    def close(self) -> None:
        """End every part."""
        self.server.close()
        self.clock.close()

    def step(self) -> str | None:
        """Let the next thing happen that is due now; its name, or None when nothing is."""
        return self.clock.step()

    def settle(self) -> None:
        """Let everything happen that is due now."""
        while self.step():
            pass

    def pass_on(self) -> bool:
        """Settle, then move the time to the next thing that is due; False when there is none."""
        self.settle()
        following = self.clock.next_at()
        if following is None:
            return False
        self.clock.advance_to(following)
        return True

    def explain(self, namespace: str, pod: str) -> JSON | None:
        """The extender's explanation why a pod waits."""
        return self._extender.living.explain(namespace, pod)

    def plugin(self, node: str) -> DevicePlugin:
        """The device plugin of a node."""
        service = self.parts[f"plugin {node}"].service
        assert isinstance(service, DevicePlugin)
        return service

    def _start(self) -> None:
        self.clock.complete(manifests.install(self.api))
        for name in self._makers():
            self.restart(name)
        self.server.when_served(self._collect)
        for node in self._nodes.values():
            if not node.later:
                self.join(node.name)

    def _makers(self) -> Mapping[str, tuple[Callable[[Api, Runtime], Any], Mapping[str, str]]]:
        """Every part that is there once, in the order in which they start."""
        options = self._options
        return {
            "garbage collector": (
                lambda api, runtime: parts.garbage_collector(api, runtime, self.server.collections()),
                self.server.collections(),
            ),
            "namespace controller": (parts.namespace_controller, parts.NAMESPACE_RESOURCES),
            "controllers": (parts.controller_manager, parts.CONTROLLER_RESOURCES),
            "extender": (lambda api, runtime: parts.extender(api, runtime, options), EXTENDER_RESOURCES),
            "scheduler": (
                lambda api, runtime: parts.scheduler(api, runtime, self._extender, options),
                SCHEDULER_RESOURCES,
            ),
            "operator": (
                lambda api, runtime: parts.operator(api, runtime, self._extender, options),
                OPERATOR_RESOURCES,
            ),
        }

    def _maker(self, name: str) -> tuple[Callable[[Api, Runtime], Any], Mapping[str, str]]:
        kind, _, node = name.partition(" ")
        if kind == "kubelet":
            return lambda api, runtime: self._kubelet(node, api, runtime), parts.own_resources(node)
        if kind == "plugin":
            return lambda api, runtime: self._plugin(node, api, runtime), parts.own_resources(node)
        return self._makers()[name]

    def _kubelet(self, node: str, api: Api, runtime: Runtime) -> Kubelet:
        return parts.kubelet(self._nodes[node], api, runtime, self._disks[node], self._options)

    def _plugin(self, node: str, api: Api, runtime: Runtime) -> DevicePlugin:
        ports = Ports(api, runtime, self._pod_resources[node], self._options.narrate)
        return parts.device_plugin(self._nodes[node], ports, self._options)

    def _introduce(self, name: str, service: Any) -> None:
        """Tell the others about a part that has just started."""
        kind, _, node = name.partition(" ")
        if kind == "extender":
            self._extender.lives(service, self.parts[name].scope)
        if hasattr(service, "start"):
            service.start()
        if kind == "kubelet":
            self._pod_resources[node].kubelet = service
        if kind in ("kubelet", "plugin"):
            self._link(node, plugin_died=kind == "plugin")

    def _link(self, node: str, *, plugin_died: bool) -> None:
        """Connect a node's plugin with its kubelet, anew when one of them has started anew."""
        kubelet, plugin = self.parts.get(f"kubelet {node}"), self.parts.get(f"plugin {node}")
        if kubelet is None or plugin is None:
            return
        if node in self._links:
            self._links[node].end()
            if plugin_died:
                for resource in plugin.service.resources:
                    kubelet.service.plugin_gone(resource)
        self._links[node] = Scope(self.clock)
        connect(kubelet.service, plugin.service, self._links[node])

    def _collect(self, resource: str, path: str) -> None:
        """Have the garbage of a new custom resource collected too."""
        collector = self.parts["garbage collector"]
        collector.service.follow(resource, path)
        collector.feed.add(resource, path)

    def _deliver(self, name: str) -> Callable[[str, Callable[[], None]], None]:
        def deliver(what: str, call: Callable[[], None]) -> None:
            self.clock.call_at(self.clock.now(), f"{name}: {what}", call)

        return deliver

    def _logs(self, pod: JSON, container: str, previous: bool) -> Sequence[LogLine]:
        part = self.parts.get(f"kubelet {pod['spec'].get('nodeName')}")
        if part is None:
            raise NoLogsError
        kubelet, metadata = part.service, pod["metadata"]
        assert isinstance(kubelet, Kubelet)
        return kubelet.logs(metadata["namespace"], metadata["name"], container, previous=previous)
