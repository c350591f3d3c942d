"""What must never be seen, whatever a scenario does: two owners of one device, a gang half placed for long."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gpuyard.groups import leaders
from gpuyard.groups.leaders import Start
from gpuyard.pods import memberships
from gpuyard.writes import JSON
from gpuyard_cli.scenarios.observation import Snapshot, held_devices, is_live, stays

COMMIT_SECONDS = 5.0
"""So long may a gang be bound in part while its commit completes or is undone (design, section 6)."""


class Watchman:
    """Looks at snapshots as time passes and remembers which gangs started, and since when others are half placed."""

    def __init__(self) -> None:
        self._started: frozenset[str] = frozenset()
        self._half_since: dict[str, float] = {}

    def look(self, snapshot: Snapshot, now: float) -> tuple[str, ...]:
        """One line for each law that is broken at `now` (seconds since the epoch)."""
        return (*shared_devices(snapshot.pods), *self._half_gangs(snapshot, now))

    def _half_gangs(self, snapshot: Snapshot, now: float) -> Iterator[str]:
        self._started = started(snapshot.groups, snapshot.pods, self._started)
        half = half_placed(snapshot.groups, snapshot.pods, self._started)
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


def started(groups: Iterable[JSON], pods: Iterable[JSON], before: frozenset[str]) -> frozenset[str]:
    """The groups of which minMember members were placed at one time; `before` are those of the last look.

    One that has started may lose members: they end, fail or are deleted. It starts anew when it has lost all.
    """
    return frozenset(
        name
        for name, placed, needed in _gangs(groups, pods)
        if sum(map(stays, placed)) >= needed
        or (name in before and any(is_live(pod) or _succeeded(pod) for pod in placed))
    )


def half_placed(groups: Iterable[JSON], pods: Iterable[JSON], started: frozenset[str]) -> Iterator[str]:
    """The groups that have not started, though some members hold their places."""
    for name, placed, _ in _gangs(groups, pods):
        if name not in started and any(is_live(pod) and stays(pod) for pod in placed):
            yield name


def _gangs(groups: Iterable[JSON], pods: Iterable[JSON]) -> Iterator[tuple[str, list[JSON], int]]:
    """Of each group its name, its bound members, and how many must be; leaders that start alone are none of them."""
    members: dict[str, list[JSON]] = defaultdict(list)
    for pod in pods:
        members[memberships.group_of(pod) or ""].append(pod)
    for group in groups:
        name, needed = group["metadata"]["name"], memberships.min_member(group)
        found = leaders.find(members[name], needed)
        placed = [pod for pod in members[name] if pod["spec"].get("nodeName")]
        led = any(pod["metadata"].get("uid") in found.uids for pod in placed)
        spared = {Start.BEFORE: len(found.uids), Start.LATE: int(not led)}.get(found.start or Start.AFTER, 0)
        yield name, [pod for pod in placed if pod["metadata"].get("uid") not in found.apart], needed - spared


def _succeeded(pod: JSON) -> bool:
    return bool((pod.get("status") or {}).get("phase") == "Succeeded")
