"""What must never be seen, whatever a scenario does: two owners of one device, a gang half placed for long."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cli.observation import Snapshot, held_devices, is_live

COMMIT_SECONDS = 5.0
"""So long may a gang be bound in part while its commit completes or is undone (design, section 6)."""


class Watchman:
    """Looks at snapshots as time passes and remembers since when a gang is half placed."""

    def __init__(self) -> None:
        self._half_since: dict[str, float] = {}

    def look(self, snapshot: Snapshot, now: float) -> tuple[str, ...]:
        """One line for each law that is broken at `now` (seconds since the epoch)."""
        return (*shared_devices(snapshot.pods), *self._half_gangs(snapshot, now))

    def _half_gangs(self, snapshot: Snapshot, now: float) -> Iterator[str]:
        half = set(half_placed(snapshot.groups, snapshot.pods))
        self._half_since = {name: self._half_since.get(name, now) for name in half}
        for name, since in self._half_since.items():
            if now - since > COMMIT_SECONDS:
                yield f"podgroup {name} has been bound in part for {now - since:.1f} s"


def shared_devices(pods: Iterable[JSON]) -> Iterator[str]:
    """A line for each device that two live containers hold."""
    owners: dict[str, list[str]] = defaultdict(list)
    for pod in filter(is_live, pods):
        for container, ids in held_devices(pod).items():
            for device in ids:
                owners[device].append(f"{pod['metadata']['name']}/{container}")
    for device, holders in owners.items():
        if len(holders) > 1:
            yield f"device {device} has several owners: {', '.join(holders)}"


def half_placed(groups: Iterable[JSON], pods: Iterable[JSON]) -> Iterator[str]:
    """The groups with some members bound, but fewer than minMember."""
    bound: Mapping[str, int] = _bound(pods)
    for group in groups:
        name, needed = group["metadata"]["name"], (group.get("spec") or {}).get("minMember") or 1
        if 0 < bound[name] < needed:
            yield name


def _bound(pods: Iterable[JSON]) -> Mapping[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for pod in pods:
        name = (pod["metadata"].get("labels") or {}).get(vocabulary.POD_GROUP)
        if name and pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp"):
            counts[name] += 1
    return counts
