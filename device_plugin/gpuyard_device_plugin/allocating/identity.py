"""Whose Allocate is this? The device plugin API names no pod.

The kubelet admits one pod at a time, so the pod in hand is the one in its own list with a container that still waits.
The list may be asked for inside GetPreferredAllocation only: inside Allocate it would make the kubelet forget the
very ids that it is about to give. Where GetPreferredAllocation was skipped, Allocate recognises a container of the
last pod that gets an init container's devices, or the one plan that is still open and names exactly these ids.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gpuyard.pods.requests import ContainerKind
from gpuyard_device_plugin.allocating.pod_devices import Claim, Listed, PodDevices


@dataclass(frozen=True, slots=True)
class Hand:
    """What GetPreferredAllocation found out for the Allocate that follows it."""

    claim: Claim
    size: int
    offered: frozenset[str]

    def explains(self, resource: str, ids: Collection[str]) -> bool:
        return self.claim.resource == resource and self.size == len(ids) and self.offered.issuperset(ids)


def planned(state: PodDevices, claim: Claim) -> tuple[str, ...]:
    """The ids that the plan has for the claim; empty without a plan."""
    return state.pods[claim.uid].plan.get(claim.container, {}).get(claim.resource, ())


def in_hand(
    state: PodDevices, listed: Sequence[Listed], resource: str, size: int, offered: Collection[str]
) -> Claim | None:
    """The container that is being admitted. `state` must know what `listed` says."""
    claims = [claim for entry in listed for claim in _claims(state, entry, resource, size)]
    # More than one only where init containers hide from the list: then the plan tells, or who came last.
    on_offer = [c for c in claims if planned(state, c) and set(planned(state, c)) <= set(offered)]
    found = on_offer or claims
    return found[-1] if found else None


def doubtful(state: PodDevices, listed: Sequence[Listed], resource: str) -> list[Listed]:
    """Listed pods of which the state may be wrong: unknown, or served as far as known but listed without ids.

    The latter happens when a pod was deleted and another of the same name took its place.
    """
    return [entry for entry in listed if _is_doubtful(state, entry, resource)]


def claimant(state: PodDevices, last: str | None, resource: str, ids: Collection[str]) -> Claim | None:
    """The container for an Allocate without a hand; `last` is the UID of the pod that was served last."""
    if last is not None and last in state.pods and set(ids) <= _left_behind(state, last, resource):
        for want in state.waiting(last, resource):
            if want.count == len(ids):
                return Claim(last, want.container, resource)
    claims = [claim for claim in open_claims(state) if claim.resource == resource]
    exact = [claim for claim in claims if set(planned(state, claim)) == set(ids)]
    return exact[0] if len(exact) == 1 else None


def open_claims(state: PodDevices) -> Iterator[Claim]:
    """Everything that pods of the node still wait for."""
    for pod in state.pods.values():
        for resource in dict.fromkeys(want.resource for want in pod.wants):
            for want in state.waiting(pod.uid, resource):
                yield Claim(pod.uid, want.container, resource)


def _is_doubtful(state: PodDevices, entry: Listed, resource: str) -> bool:
    pod = state.named(entry.namespace, entry.name)
    if pod is None:
        return True
    bare = any(
        want.kind is ContainerKind.APP and not entry.held.get(want.container, {}).get(resource)
        for want in pod.wants
        if want.resource == resource
    )
    return bare and not state.waiting(pod.uid, resource)


def _claims(state: PodDevices, entry: Listed, resource: str, size: int) -> Iterator[Claim]:
    """The first container of a listed pod that waits for so many."""
    if (pod := state.named(entry.namespace, entry.name)) is None:
        return
    for want in state.waiting(pod.uid, resource):
        if want.count == size:
            yield Claim(pod.uid, want.container, resource)
            return


def _left_behind(state: PodDevices, uid: str, resource: str) -> set[str]:
    """The ids that init containers of the pod held."""
    return {
        device
        for device, claims in state.holders().items()
        for claim in claims
        if claim.uid == uid and claim.resource == resource and state.is_reusable(claim)
    }
