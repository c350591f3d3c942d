"""What must hold of a cluster in a storm: each law gives one line for each time that it is broken."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from gpuyard import annotations, vocabulary
from gpuyard.auditing.findings import Flaw
from gpuyard.groups import gangs, nearness
from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.hardware.inventory import Device, MigStrategy
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.placement import judge
from gpuyard.pods import memberships, requests
from gpuyard.pods.amounts import requests_of
from gpuyard.pods.fit import NodeFit, PodFit
from gpuyard.pods.requests import PodRequest
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_cli.backends.steps import StepsAccounts
from gpuyard_cli.scenarios.auditing import Audited, look
from gpuyard_cli.scenarios.invariants import COMMIT_SECONDS, half_placed, started
from gpuyard_cli.scenarios.observation import held_devices, is_live
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory
from gpuyard_extender.service import Extender
from tests.e2e.storm import NAMESPACE, Storm


def service(storm: Storm, name: str) -> object:
    return storm.yard.parts[name].service


def extender(storm: Storm) -> Extender:
    found = service(storm, "extender")
    assert isinstance(found, Extender)
    return found


def devices(storm: Storm) -> Mapping[str, tuple[str, Device]]:
    """Every device of the yard by id, with its node."""
    return {
        device.id: (node.name, device)
        for node in storm.nodes
        for device in node_inventory.build(node.gpus, config.parse(node.plugin_config)).devices()
    }


def shared(known: Mapping[str, tuple[str, Device]], held: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Devices that overlap and have different owners; `held` is owner -> ids."""
    owned = [(owner, *known[found]) for owner, ids in held.items() for found in ids]
    for (one, here, first), (other, there, second) in combinations(owned, 2):
        if one != other and here == there and first.overlaps(second):
            yield f"{one} holds {first.id}, {other} holds {second.id}"


def shared_by_status(storm: Storm, pods: Iterable[JSON]) -> Iterator[str]:
    """No two live containers hold devices that overlap, by what their statuses say."""
    held = {
        f"{pod['metadata']['name']}/{container}": ids
        for pod in filter(is_live, pods)
        for container, ids in held_devices(pod).items()
    }
    yield from shared(devices(storm), held)


def shared_by_kubelets(storm: Storm) -> Iterator[str]:
    """No two pods hold devices that overlap, by what PodResources says."""
    held: dict[str, set[str]] = defaultdict(set)
    for name in (f"kubelet {node.name}" for node in storm.nodes):
        kubelet = service(storm, name)
        assert isinstance(kubelet, Kubelet)
        for pod in kubelet.pod_resources().pod_resources:
            for container in pod.containers:
                for found in container.devices:
                    held[pod.name].update(found.device_ids)
    yield from shared(devices(storm), held)


def miscounted(storm: Storm) -> Iterator[str]:
    """Free and taken make the total, for each resource of each node in the ledger; nothing unknown is placed."""
    for node in extender(storm).ledger.cluster(storm.now).nodes.values():
        known = {device.id for device in node.inventory.devices()} if node.inventory else set()
        if node.inventory and not known.issuperset(node.owners):
            yield f"{node.name} owns what it has not: {set(node.owners) - known}"
        owned = node.owned()
        for resource in {device.resource for device in node.inventory.devices()} if node.inventory else ():
            taken = sum(any(d.overlaps(other) for other in owned) for d in node.devices(resource))
            if len(node.idle(resource)) + taken != node.total(resource):
                yield f"{node.name}: {len(node.idle(resource))} idle and {taken} taken {resource}"


def unreconciled(storm: Storm, *besides: Flaw) -> Iterator[str]:
    """What an audit finds once all news has arrived, but for these flaws."""
    found: Audited = storm.yard.clock.complete(look(StepsAccounts(storm.yard)))
    yield from found.silent
    yield from (str(finding) for finding in found.findings if finding.flaw not in besides)


class HalfPlaced:
    """No gang that has not started is bound in part for longer than its commit may take.

    A write that fails in between costs its time: the commit begins anew.
    """

    def __init__(self) -> None:
        self._started: frozenset[str] = frozenset()
        self._since: dict[str, float] = {}

    def look(self, storm: Storm, pods: Sequence[JSON]) -> Iterator[str]:
        groups = storm.objects("podgroups")
        self._started = started(groups, pods, self._started)
        half = half_placed(groups, pods, self._started)
        self._since = {name: self._since.get(name, storm.now) for name in half}
        for name, since in self._since.items():
            seconds = storm.now - max(since, storm.failed_at)
            if seconds > COMMIT_SECONDS:
                yield f"{name} has been bound in part for {seconds:.1f} s"


def settled(storm: Storm, pods: Iterable[JSON]) -> Cluster:
    """The cluster as nodes and pods alone tell it, made by the domain without the ledger."""
    nodes = {
        node["metadata"]["name"]: Node(
            node["metadata"]["name"],
            NodeFit.of(node),
            annotations.read_inventory(node["metadata"]["annotations"][vocabulary.INVENTORY]),
        )
        for node in storm.objects("nodes")
    }
    cluster = Cluster(nodes)
    for pod in filter(is_live, pods):
        if pod["spec"].get("nodeName"):
            cluster = cluster.with_placement(placed(pod))
    return cluster


def placed(pod: JSON) -> Placement:
    """What a bound pod holds: by its status, and by its plan where the status is silent."""
    marks = pod["metadata"].get("annotations") or {}
    plan = annotations.read_allocation(marks.get(vocabulary.ALLOCATION)) or {}
    held = {name: {"": ids} for name, ids in held_devices(pod).items()}
    uid, node = pod["metadata"]["uid"], pod["spec"]["nodeName"]
    return Placement(uid, node, {**plan, **held}, requests_of(pod))


def turned_away(storm: Storm, pods: Iterable[JSON]) -> Iterator[str]:
    """Where nothing has gone wrong no kubelet refuses a pod: it gets what was planned for it."""
    for pod in pods:
        if storm.calm and pod["status"].get("reason"):
            yield f"{pod['metadata']['name']}: {pod['status']['reason']}: {pod['status'].get('message')}"


def healthy(storm: Storm) -> Iterator[tuple[str, str, int]]:
    """How many devices of each resource a node has that are well, and that can be had at one time."""
    for node in storm.objects("nodes"):
        marks = node["metadata"]["annotations"]
        inventory = annotations.read_inventory(marks[vocabulary.INVENTORY])
        assert inventory is not None
        on_demand = inventory.mig_strategy is MigStrategy.DYNAMIC
        apart = (device for device in inventory.devices() if not (on_demand and device.size))
        counts = Counter(device.resource for device in apart if device.healthy)
        yield from ((node["metadata"]["name"], resource, count) for resource, count in counts.items())


def forgotten(storm: Storm, pods: Sequence[JSON]) -> Iterator[str]:
    """When all is quiet, every pod runs, has ended, or waits for a reason that is true; and none lingers."""
    cluster = settled(storm, pods)
    for pod in pods:
        name, phase = pod["metadata"]["name"], pod["status"]["phase"]
        if pod["metadata"].get("deletionTimestamp"):
            yield f"{name} is being deleted for ever"
        elif not pod["spec"].get("nodeName"):
            yield from without_reason(storm, pod, cluster)
        elif phase == "Pending" and not waits_for_recovery(storm, pod):
            yield f"{name} is bound and does not start"
    for group in storm.objects("podgroups"):
        yield from without_places(group, pods, cluster)


def waits_for_recovery(storm: Storm, pod: JSON) -> bool:
    """A sick GPU tears down no MIG instance, so that nobody starts in its place."""
    plugin = storm.yard.plugin(pod["spec"]["nodeName"])
    sick = {device.id for device in plugin.inventory.devices() if not device.healthy}
    return any(sick.intersection(ids) for ids in held_devices(pod).values())


def without_reason(storm: Storm, pod: JSON, cluster: Cluster) -> Iterator[str]:
    name, member = pod["metadata"]["name"], member_of(pod)
    code = (storm.yard.explain(NAMESPACE, name) or {}).get("code")
    if code in (None, Reason.RESERVATION_MISSING.value):
        yield f"{name} waits and nobody says why: {code}"
    verdicts = [judge(member.fit, member.request, node) for node in cluster.nodes.values()]
    fits = [found.node for found in verdicts if isinstance(found, Placement)]
    if member.request.group is None and fits:
        yield f"{name} waits, though it fits on {fits}"


def without_places(group: JSON, pods: Sequence[JSON], cluster: Cluster) -> Iterator[str]:
    """Of a gang nobody waits if all who must start together find places together, until it is over."""
    if (group.get("status") or {}).get("phase") == "Failed":
        return
    name = group["metadata"]["name"]
    members = [pod for pod in pods if group_of(pod) == name]
    waiting = [member_of(pod) for pod in members if not pod["spec"].get("nodeName")]
    bound = [pod for pod in members if pod["spec"].get("nodeName") and pod["status"]["phase"] != "Failed"]
    needed = max(1, group["spec"]["minMember"] - len(bound))
    where = together(group, [pod["spec"]["nodeName"] for pod in bound], cluster)
    if len(waiting) >= needed and any(fit(waiting[:needed], nodes) for nodes in where):
        yield f"{name}: {needed} members wait, though they fit"


def together(group: JSON, taken: Iterable[str], cluster: Cluster) -> list[Cluster]:
    """The parts of a cluster of which one has to hold all of a gang that has members on `taken` nodes."""
    wish = nearness.parse(group["metadata"].get("annotations") or {})
    if wish is None or not wish.required:
        return [cluster]
    domain = {name: node.fit.labels.get(wish.domain.label) for name, node in cluster.nodes.items()}
    wanted = {domain[name] for name in taken} or set(domain.values()) - {None}
    return [
        Cluster({name: node for name, node in cluster.nodes.items() if domain[name] == found})
        for found in wanted
    ]


def fit(members: Sequence[Member], cluster: Cluster) -> bool:
    return not isinstance(gangs.plan(members, cluster, POLICIES["pack"]), GangRejection)


def member_of(pod: JSON) -> Member:
    request = requests.parse(pod)
    assert isinstance(request, PodRequest)
    return Member(request, PodFit.of(pod))


def group_of(pod: JSON) -> str:
    return memberships.group_of(pod) or ""


def imagined(storm: Storm, pods: Iterable[JSON]) -> Iterator[str]:
    """When all is quiet, the ledger holds what nodes and pods tell, and nothing else."""
    cluster, ledger = settled(storm, pods), extender(storm).ledger.cluster(storm.now)
    for name, node in cluster.nodes.items():
        kept = ledger.nodes[name]
        if (kept.owners, kept.used) != (node.owners, node.used):
            yield f"{name}: the ledger has {kept.owners}, {kept.used}; it is {node.owners}, {node.used}"


def kept_back(storm: Storm) -> Iterator[str]:
    """Without pods every device is free, and nothing is booked or reserved."""
    for node in extender(storm).ledger.cluster(storm.now).nodes.values():
        if node.owners or node.used:
            yield f"{node.name} is not free: {node.owners}, {node.used}"
        for resource in {device.resource for device in node.inventory.devices()} if node.inventory else ():
            if len(node.idle(resource)) != node.total(resource):
                yield f"{node.name}: {len(node.idle(resource))} of {node.total(resource)} {resource} are idle"
    for reservation in storm.objects("reservations"):
        yield f"reservation {reservation['metadata']['name']} is left"
