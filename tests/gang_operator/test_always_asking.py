"""Who asks seldom starts as soon as who always asks: the operator against one that asks at every change."""

import random
from collections.abc import Callable

import pytest

from gpuyard.groups.plans import PlanAnswer, PlanRequest
from gpuyard_operator import refusals
from gpuyard_operator.cache import PATHS
from gpuyard_operator.deciding import asking
from tests.gang_operator.halves import Halves, holds, places, urgency
from tests.gang_operator.world import gpus_of, group_path, pod_path

NODES, EVENTS = 2, 24
QUIET_SECONDS = 2 * asking.LONGEST_SECONDS
"""Until then whoever could not be reached is asked again, and nobody asks because it has waited for long."""
Admissions = list[tuple[float, dict[str, str]]]


class Chance:
    """What happens to a cluster by chance: the same for each cluster with the same seed.

    The pods of a gang that goes leave `apart` seconds after one another.
    """

    def __init__(self, world: Halves, seed: int, apart: float = 0.0) -> None:
        self.world, self.chance, self.gangs, self.apart = world, random.Random(seed), 0, apart

    def befall(self, *more: Callable[[], object]) -> None:
        """One thing that may make room, take it, or want it."""
        self.chance.choice(
            [self.ends, self.ends, self.ends, self.comes, self.comes, self.cordon, self.goes, *more]
        )()

    def comes(self) -> None:
        name, sizes = (
            f"gang-{self.gangs:02}",
            [self.chance.randint(1, 2) for _ in range(self.chance.randint(1, 3))],
        )
        urgent = {"priorityClassName": "urgent"} if self.chance.random() < 0.3 else {}
        self.gangs += 1
        self.world.group(name, minMember=self.chance.randint(1, len(sizes)))
        for number, gpus in enumerate(sizes):
            self.world.pod(f"{name}-{number}", gpus, name, **urgent)

    def ends(self) -> None:
        if found := sorted(name for name, pod in self.world.pods.items() if holds(pod)):
            self.world.phase(self.chance.choice(found), "Succeeded")

    def cordon(self) -> None:
        node = f"node-{self.chance.randint(1, NODES)}"
        self.world.cordon(node, cordoned=self.chance.random() < 0.4)

    def goes(self) -> None:
        """A gang that waits."""
        waiting = {pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] for pod in self.waiting()}
        if waiting:
            name = self.chance.choice(sorted(waiting))
            self.world.delete(group_path(name))
            for pod in [pod for pod in self.world.pods if pod.startswith(name)]:
                self.world.delete(pod_path(pod))
                if self.apart:
                    self.world.advance(self.apart)

    def waiting(self) -> list[dict[str, object]]:
        pods = self.world.pods.values()
        return [p for p in pods if "nodeName" not in p["spec"] and p["metadata"].get("labels")]


def history(seed: int) -> Admissions:
    """Who was bound where, and when, in a cluster to which something happens now and then.

    One change at a time: of two at once the planner sees both as the operator hears of the first, and then it is of
    consequence who asks at a change that is no room for it; and so it is as long as that is not asked again.
    """
    world = Halves(NODES)
    chance, found = Chance(world, seed, asking.AGAIN_SECONDS), Admissions()
    for number in range(EVENTS):
        chance.befall(world.restart)
        for _ in range(6):
            world.advance(0.5)
            if not found or found[-1][1] != world.bound():
                found.append((number, world.bound()))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_same_start_at_the_same_moments_as_if_everybody_asked_at_every_change(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = history(seed)
    for name in ("may_help", "may_start", "ends_help"):
        monkeypatch.setattr(refusals, name, lambda *_: True)
    assert found == history(seed)


def startable(world: Halves) -> set[str]:
    """The groups that wait though there is room for them, be it at the expense of others."""
    found = set[str]()
    for group in world.api.list(PATHS["podgroups"]):
        name = group["metadata"]["name"]
        pods = [
            pod
            for pod in world.pods.values()
            if pod["metadata"].get("labels", {}).get("scheduling.x-k8s.io/pod-group") == name
        ]
        wants = sorted(gpus_of(pod) for pod in pods if "nodeName" not in pod["spec"])
        begun = any("nodeName" in pod["spec"] for pod in pods)
        needed = 1 if begun else group["spec"]["minMember"]
        at_whose_expense = urgency(pods[0]) or None if world.preempts and pods else None
        if len(wants) >= needed and places(wants[:needed], world.free(at_whose_expense)):
            found.add(name)
    return found


@pytest.mark.parametrize("preempts", [False, True], ids=["", "at the expense of others"])
@pytest.mark.parametrize("seed", range(3))
def test_nobody_waits_for_whom_there_is_room_whatever_happened_how_fast(seed: int, *, preempts: bool) -> None:
    world = Halves(NODES, preempts=preempts)
    chance = Chance(world, seed)
    plan = world.plan

    async def slow(request: PlanRequest) -> PlanAnswer:
        await world.clock.sleep_until(world.clock.now() + chance.chance.choice([0.0, 0.01, 0.4]))
        return await plan(request)

    def reach() -> None:
        world.reachable = not world.reachable

    world.plan = slow  # type: ignore[method-assign]
    for _ in range(EVENTS):
        chance.befall(world.restart, reach, lambda: chance.chance.shuffle(world.arrival))
        world.advance(chance.chance.choice([0.0, 0.0, 0.1, 0.6, 2.5]))
    world.reachable = True
    world.advance(QUIET_SECONDS)
    assert startable(world) == set()
