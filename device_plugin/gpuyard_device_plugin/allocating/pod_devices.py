"""Which devices the pods of the node hold, and which containers wait for theirs.

Stands for the kubelet's devicemanager/pod_devices.go, seen from the plugin's side. For each container the first that
is known counts: its pod's status; what the kubelet said or Allocate gave; and, for an admitted pod of which nothing
contradicts it, the plan (init containers and sidecars never get into a status).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gpuyard.annotations import Allocation
from gpuyard.pods.requests import ContainerKind, Want
from gpuyard_device_plugin.allocating.node_pods import NodePod


@dataclass(frozen=True, slots=True)
class Claim:
    """A container of a pod (its UID) and the resource that it is to get."""

    uid: str
    container: str
    resource: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A pod in the kubelet's own list (PodResources List): the ids that its containers hold by now."""

    namespace: str
    name: str
    held: Allocation


@dataclass(frozen=True, slots=True)
class PodDevices:
    """The pods of the node by UID, and by UID what the plugin saw them being given."""

    pods: Mapping[str, NodePod] = field(default_factory=dict)
    given: Mapping[str, Allocation] = field(default_factory=dict)

    def with_pods(self, pods: Iterable[NodePod]) -> "PodDevices":
        """These are all pods now."""
        found = {pod.uid: pod for pod in pods}
        live = {uid: held for uid, held in self.given.items() if uid in found and not found[uid].ended}
        return PodDevices(found, live)

    def with_pod(self, pod: NodePod) -> "PodDevices":
        return self.with_pods([*(old for uid, old in self.pods.items() if uid != pod.uid), pod])

    def without_pod(self, uid: str) -> "PodDevices":
        return self.with_pods(old for old in self.pods.values() if old.uid != uid)

    def with_given(self, claim: Claim, ids: Iterable[str]) -> "PodDevices":
        """A container has got its devices; a pod that is not known stays out."""
        if claim.uid not in self.pods:
            return self
        held = self.given.get(claim.uid, {})
        container = {**held.get(claim.container, {}), claim.resource: tuple(ids)}
        return replace(self, given={**self.given, claim.uid: {**held, claim.container: container}})

    def with_listed(self, listed: Iterable[Listed]) -> "PodDevices":
        """The kubelet's word: a container that it lists holds these ids, or none. Init containers are not listed."""
        given = dict(self.given)
        for entry in listed:
            if (pod := self.named(entry.namespace, entry.name)) is not None:
                before = self.given.get(pod.uid, {})
                hidden = {name: held for name, held in before.items() if name not in entry.held}
                given[pod.uid] = hidden | {name: held for name, held in entry.held.items() if held}
        return replace(self, given=given)

    def named(self, namespace: str, name: str) -> NodePod | None:
        """The pod of that name that has not ended."""
        for pod in self.pods.values():
            if (pod.namespace, pod.name, pod.ended) == (namespace, name, False):
                return pod
        return None

    def held(self, uid: str, container: str, resource: str) -> tuple[str, ...]:
        """The ids that a container holds; empty when it holds none, or nobody knows."""
        pod = self.pods[uid]
        if pod.ended:
            return ()
        for source in (pod.truth, self.given.get(uid, {})):
            if ids := source.get(container, {}).get(resource, ()):
                return ids
        planned = pod.plan.get(container, {}).get(resource, ())
        return planned if pod.admitted and _came_true(pod) else ()

    def holders(self) -> dict[str, set[Claim]]:
        """Who holds each id. One pod's containers may share ids that an init container left behind."""
        found: dict[str, set[Claim]] = defaultdict(set)
        for pod in self.pods.values():
            for want in pod.wants:
                for device in self.held(pod.uid, want.container, want.resource):
                    found[device].add(Claim(pod.uid, want.container, want.resource))
        return dict(found)

    def waiting(self, uid: str, resource: str) -> tuple[Want, ...]:
        """The wants that are still to be served, in the kubelet's order."""
        pod = self.pods[uid]
        if pod.ended or pod.admitted:
            return ()
        served = [i for i, want in enumerate(pod.wants) if self.held(uid, want.container, want.resource)]
        last = pod.wants[served[-1]].container if served else None
        # Containers are served one after the other: what stands before the last one served is done.
        begun = next((i for i, want in enumerate(pod.wants) if want.container == last), 0)
        return tuple(
            want
            for want in pod.wants[begun:]
            if want.resource == resource and not self.held(uid, want.container, resource)
        )

    def is_reusable(self, claim: Claim) -> bool:
        """Whether later containers of the pod may get what this one holds: init containers end, sidecars do not."""
        wants = self.pods[claim.uid].wants
        return any(w.container == claim.container and w.kind is ContainerKind.INIT for w in wants)


def _came_true(pod: NodePod) -> bool:
    """Whether the app containers together got what was planned (two may have swapped an init container's)."""
    got = {device for held in pod.truth.values() for ids in held.values() for device in ids}
    planned = {
        device for container in pod.truth for ids in pod.plan.get(container, {}).values() for device in ids
    }
    return got == planned
