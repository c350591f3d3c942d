"""Which devices there are, who holds them, and which of them a container gets.

Stands for the kubelet's device manager (ManagerImpl). Laws: a device has one owner, except that containers of a pod
use again what its init containers, which have ended by then, were given; free = healthy and held by nobody; a device
that fell sick or vanished stays with its owner.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from gpuyard import vocabulary
from gpuyard.pods import quantities
from gpuyard.pods.amounts import ContainerKind, containers_of
from gpuyard.writes import JSON


class AllocationError(Exception):
    """A container cannot get its devices: its pod is refused for good, with this text."""


@dataclass(frozen=True, slots=True)
class Holding:
    """The devices of one resource that a container of a pod (by UID) holds, and what its environment gets."""

    pod: str
    container: str
    resource: str
    ids: tuple[str, ...]
    envs: Mapping[str, str]

    def __str__(self) -> str:
        seen = " ".join(
            f"{name}={value}"
            for name, value in sorted(self.envs.items())
            if not name.startswith(vocabulary.SMI_VARIABLES)
        )
        holds = f"{self.container} holds {self.resource} {', '.join(sorted(self.ids))}"
        return f"{holds}; sees {seen}" if seen else holds


@dataclass(frozen=True, slots=True)
class Devices:
    """All devices of a node. `lists`: resource -> id -> healthy, as the plugin last said."""

    lists: Mapping[str, Mapping[str, bool]]
    connected: frozenset[str]
    """The resources whose plugin is there; all devices of the others count as unhealthy."""
    holdings: tuple[Holding, ...]

    def with_list(self, resource: str, healthy: Mapping[str, bool]) -> "Devices":
        """A plugin's newest list: it is complete, and replaces the one before."""
        return replace(self, lists={**self.lists, resource: healthy}, connected=self.connected | {resource})

    def disconnected(self, resource: str) -> "Devices":
        """The plugin is gone."""
        return replace(self, connected=self.connected - {resource})

    def holding(self, holding: Holding) -> "Devices":
        """A container got its devices."""
        return replace(self, holdings=(*self.holdings, holding))

    def kept_by(self, pods: Iterable[str]) -> "Devices":
        """Only the pods of these UIDs hold anything any more."""
        alive = set(pods)
        return replace(self, holdings=tuple(found for found in self.holdings if found.pod in alive))

    def of_pod(self, uid: str) -> tuple[Holding, ...]:
        return tuple(found for found in self.holdings if found.pod == uid)

    def capacity(self, resource: str) -> int:
        """How many devices the plugin listed, sick ones included."""
        return len(self.lists.get(resource, {}))

    def healthy(self, resource: str) -> frozenset[str]:
        """The ids that may be given out; their number is the node's allocatable."""
        if resource not in self.connected:
            return frozenset()
        return frozenset(found for found, healthy in self.lists[resource].items() if healthy)

    def health(self, resource: str, device: str) -> str:
        """As pod status shows it. A device that is in no list counts as healthy, as in the kubelet; a plugin that
        is gone changes nothing."""
        return "Healthy" if self.lists.get(resource, {}).get(device, True) else "Unhealthy"

    def free(self, resource: str) -> list[str]:
        """Healthy ids that nobody holds, sorted."""
        held = {device for found in self.holdings if found.resource == resource for device in found.ids}
        return sorted(self.healthy(resource) - held)


@dataclass(frozen=True, slots=True)
class Request:
    """What one container wants of one resource; `reusable` are devices of the pod's earlier init containers."""

    pod: str
    container: str
    resource: str
    count: int
    reusable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """Devices to choose from: `certain` are used again, `missing` more come out of `available`."""

    certain: tuple[str, ...]
    available: tuple[str, ...]
    missing: int


def requests_of(pod: JSON, devices: Devices) -> Iterator[Request]:
    """What the pod's containers want, one after the other; each step sees what the steps before were given.

    Iterate anew after each allocation: `devices` is a snapshot. Only resources that a plugin has registered count:
    of all others the kubelet knows nothing, and admits their pods.
    """
    uid = pod["metadata"]["uid"]
    reusable: dict[str, list[str]] = {}
    for kind, container in containers_of(pod):
        for resource, count in _limits(container, devices):
            yield Request(uid, container["name"], resource, count, tuple(reusable.get(resource, ())))
            held = _held(devices, uid, container["name"], resource)
            pool = reusable.setdefault(resource, [])
            if kind is ContainerKind.INIT:
                pool.extend(device for device in held if device not in pool)
            else:
                reusable[resource] = [device for device in pool if device not in held]


def next_request(pod: JSON, devices: Devices) -> Request | None:
    """The first container's wish that is not met yet; None when all are."""
    for request in requests_of(pod, devices):
        if not _held(devices, request.pod, request.container, request.resource):
            return request
    return None


def open_choice(request: Request, devices: Devices, random: Random) -> Choice:
    """From which devices the request can be met, in random order. AllocationError in the kubelet's words."""
    resource = request.resource
    if not devices.healthy(resource):
        raise AllocationError(f"no healthy devices present; cannot allocate unhealthy devices {resource}")
    certain = _shuffled(request.reusable, random)[: request.count]
    missing = request.count - len(certain)
    available = _shuffled(devices.free(resource), random)
    if missing > len(available):
        numbers = f"Requested: {missing}, Available: {len(available)}"
        raise AllocationError(f"requested number of devices unavailable for {resource}. {numbers}")
    return Choice(tuple(certain), tuple(available), missing)


def choose(choice: Choice, preferred: Sequence[str], random: Random) -> tuple[str, ...]:
    """The devices, in random order. What the plugin prefers is a hint: only available ids of it are used."""
    hinted = [device for device in dict.fromkeys(preferred) if device in choice.available]
    others = [device for device in choice.available if device not in hinted]
    return tuple(_shuffled([*choice.certain, *[*hinted, *others][: choice.missing]], random))


def _limits(container: JSON, devices: Devices) -> Iterator[tuple[str, int]]:
    limits = (container.get("resources") or {}).get("limits") or {}
    for resource, text in sorted(limits.items()):
        if resource in devices.lists and (count := _count(text)):
            yield resource, count


def _count(text: object) -> int:
    """The API server has seen to it that this is a whole number; anything else asks for nothing."""
    try:
        return quantities.whole(str(text))
    except ValueError:
        return 0


def _held(devices: Devices, uid: str, container: str, resource: str) -> tuple[str, ...]:
    wanted = (uid, container, resource)
    found = (held for held in devices.holdings if (held.pod, held.container, held.resource) == wanted)
    return next((held.ids for held in found), ())


def _shuffled(ids: Iterable[str], random: Random) -> list[str]:
    shuffled = list(ids)
    random.shuffle(shuffled)
    return shuffled
