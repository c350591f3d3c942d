"""How each part is made, the same way for every backend; only the ports that it is given differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.narration import Narrator, silent
from gpuyard.yard import YardNode
from gpuyard_cluster.controllers.daemon_sets import DaemonSets
from gpuyard_cluster.controllers.decisions import Controller
from gpuyard_cluster.controllers.deployments import Deployments
from gpuyard_cluster.controllers.disruption import Disruption
from gpuyard_cluster.controllers.garbage_collector import GarbageCollector
from gpuyard_cluster.controllers.jobs import Jobs
from gpuyard_cluster.controllers.namespaces import NamespaceController
from gpuyard_cluster.controllers.node_lifecycle import NodeLifecycle
from gpuyard_cluster.controllers.replica_sets import ReplicaSets
from gpuyard_cluster.controllers.service import ControllerManager
from gpuyard_cluster.controllers.stateful_sets import StatefulSets
from gpuyard_cluster.kubelet.checkpoint import Disk
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.scheduler.extenders import Extender as ConfiguredExtender
from gpuyard_cluster.scheduler.extenders import ExtenderClient, ExtenderConfig
from gpuyard_cluster.scheduler.service import Scheduler
from gpuyard_cluster.wiring import gpu_screen
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.service import DevicePlugin, PluginSpec, Ports
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.web.ui.controls import Controls
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.reconciler import Planner
from gpuyard_operator.service import Operator


def own_resources(node: str) -> Mapping[str, str]:
    """What the parts on a node watch: its own object and its pods, as kubelets do."""
    return {
        "pods": f"/api/v1/pods?fieldSelector=spec.nodeName={node}",
        "nodes": f"/api/v1/nodes?fieldSelector=metadata.name={node}",
    }


NAMESPACE_RESOURCES = {"namespaces": "/api/v1/namespaces"}
_CONTROLLERS: Sequence[Controller] = (
    Deployments(),
    ReplicaSets(),
    StatefulSets(),
    DaemonSets(),
    Jobs(),
    Disruption(),
    NodeLifecycle(),
)
CONTROLLER_RESOURCES = {plural: path for each in _CONTROLLERS for plural, path in each.resources.items()}


@dataclass(frozen=True, slots=True)
class Options:
    """What a user can choose of an embedded cluster."""

    policy: str = "pack"
    """The extender's policy: one of `gpuyard.policies.registry.names()`."""
    prefer: bool = True
    """Whether the device plugins offer GetPreferredAllocation. Without it plans do not come true."""
    seed: int = 0
    """Of everything that a real cluster leaves to chance: free ids, ties, uids."""
    narrate: Narrator = silent
    controls: Callable[[Api], Controls] | None = None
    """Makes the buttons of the live yard; without them it is for looking alone."""


def extender(api: Api, runtime: Runtime, options: Options) -> Extender:
    return Extender(api, runtime, Settings(policy=options.policy), options.narrate)


def scheduler(api: Api, runtime: Runtime, client: ExtenderClient, options: Options) -> Scheduler:
    """A scheduler that asks the extender for every resource that GPUs are asked for by."""
    configuration = ExtenderConfig(managed_resources=frozenset(mig.managed_resources()), weight=1)
    extenders: Sequence[ConfiguredExtender] = [ConfiguredExtender(configuration, client)]
    return Scheduler(api, runtime, extenders, seed=options.seed, narrate=options.narrate)


def operator(api: Api, runtime: Runtime, planner: Planner, options: Options) -> Operator:
    """The gang operator without kopf, which only delivers events."""
    return Operator(api, runtime, planner, options.narrate)


def kubelet(
    node: YardNode, api: Api, runtime: Runtime, disk: Disk, options: Options, *, heartbeats: bool = False
) -> Kubelet:
    labels = {**node.labels, vocabulary.YARD_NODE: node.name, vocabulary.FAKE_GPUS: "true"}
    machine = Machine(node.name, labels, node.capacity)
    return Kubelet(
        machine,
        api,
        runtime,
        disk,
        seed=options.seed,
        screen=gpu_screen.listing,
        heartbeats=heartbeats,
        narrate=options.narrate,
    )


def plugin_spec(node: YardNode, options: Options) -> PluginSpec:
    """InvalidConfigError when the node's plugin configuration cannot be used."""
    return PluginSpec(node.name, node.gpus, config.parse(node.plugin_config), options.prefer)


def device_plugin(node: YardNode, ports: Ports, options: Options) -> DevicePlugin:
    """InvalidConfigError when the node's plugin configuration cannot be used."""
    return DevicePlugin(plugin_spec(node, options), ports)


def garbage_collector(api: Api, runtime: Runtime, resources: Mapping[str, str]) -> GarbageCollector:
    return GarbageCollector(api, runtime, resources)


def controller_manager(api: Api, runtime: Runtime) -> ControllerManager:
    return ControllerManager(api, runtime, _CONTROLLERS)


def namespace_controller(api: Api, runtime: Runtime) -> NamespaceController:
    return NamespaceController(api, runtime)
