"""Gangs without end on a stepped cluster: they arrive, finish, fail; nodes are lost, and parts are killed.

Their owner does as Kubeflow's operators do: it creates members that are gone again under their old names, and takes
away what has ended. The same seed makes the same gangs and deeds.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.writes import JSON, Write
from gpuyard_cli.scenarios.observation import is_live
from tests.e2e import laws
from tests.e2e.storm import A100, Storm, container, pod, pod_group

NODES, GPUS = 4, 4
YARD: JSON = {
    "nodes": [
        {
            "name": f"node-{number}",
            "labels": {vocabulary.RACK: f"rack-{number % 2}"},
            "gpus": {"model": A100, "count": GPUS},
        }
        for number in range(1, NODES + 1)
    ]
}
ANNOTATIONS: tuple[dict[str, str], ...] = (
    {},
    {},
    {vocabulary.TOPOLOGY: "same-rack"},
    {vocabulary.TOPOLOGY: "same-rack", vocabulary.TOPOLOGY_POLICY: "preferred"},
    {vocabulary.BELOW_MINIMUM: "restart"},
    {vocabulary.BELOW_MINIMUM: "release"},
    {vocabulary.SCHEDULE_DEADLINE: "120"},
)
MOST_LIVE = 8
"""With so many gangs about, owners tend to theirs before another one comes; they come faster than they end."""
OFTEN_SECONDS = 1.0
"""So often at least it is looked whether a gang is half bound."""
ENDED, GIVEN_UP = ("Finished", "Failed"), "given up"


@dataclass(frozen=True)
class Gang:
    """What its owner keeps of a gang."""

    group: JSON
    members: tuple[JSON, ...]


class GangSoak:
    """`broken` are the laws that were broken, each with what had just happened; `ended` what became of gangs."""

    def __init__(self, seed: int) -> None:
        self.storm, self._random = Storm("", seed, YARD), random.Random(seed)
        self._half, self._checked_at, self._written = laws.HalfPlaced(), 0.0, True
        self.storm.yard.watchers.append(self._notice)
        self._lost: str | None = None
        self.live: dict[str, Gang] = {}
        self.ended: dict[str, str] = {}
        self.broken: list[str] = []
        self.done: Counter[str] = Counter()
        self._deeds: dict[Callable[[], None], int] = {
            self._arrive: 40, self._tend: 30, self._kill: 10, self._lose: 2,
            self._fail_writes: 3, self._refuse: 8, self._give_up: 2,
        }  # fmt: skip
        self.wait(2.0)

    def go_on(self, gangs: int) -> None:
        """Do deeds until so many gangs have arrived."""
        while self.done["_arrive"] < gangs:
            [deed] = self._random.choices(list(self._deeds), list(self._deeds.values()))
            deed()
            self.done[deed.__name__] += 1
            self.wait(self._random.choice((0.0, 0.1, 1.0, 5.0, 15.0)))

    def calm_down(self) -> None:
        """The node comes back, and owners tend to their gangs until nothing changes any more."""
        self._find()
        self.storm.refused = {}
        for _ in range(4):
            self.wait(120.0)
            self._tend()

    def give_up(self) -> None:
        """All gangs are taken away, whatever they do."""
        for name in list(self.live):
            self.take_away(name, GIVEN_UP)
        self.wait(300.0)

    # --- deeds

    def _arrive(self) -> None:
        name = f"gang-{self.done['_arrive']}"
        if len(self.live) >= MOST_LIVE:
            self._tend()
        size, gpus = self._random.choice((1, 2, 2, 3, 4)), self._random.choice((0, 1, 1, 2, 4))
        group = pod_group(name, max(1, size - self._random.choice((0, 0, 0, 1))))
        group["metadata"]["annotations"] = dict(self._random.choice(ANNOTATIONS))
        members = tuple(self._member(name, number, gpus) for number in range(size))
        self.live[name] = Gang(group, members)
        for obj in self._random.sample([group, *members], size + 1):
            self.storm.create(obj)

    def _member(self, group: str, number: int, gpus: int) -> JSON:
        seconds = self._random.choice((3, 10, 40, 200))
        made = pod(
            f"{group}-{number}", [container("main", vocabulary.GPU, gpus)], group=group, seconds=seconds
        )
        if self._random.random() < 0.1:
            made["metadata"]["annotations"][vocabulary.EXIT_CODE] = "1"
        return made

    def _tend(self) -> None:
        """Members that are gone come again; gangs that have ended are taken away."""
        groups = {obj["metadata"]["name"]: obj for obj in self.storm.objects("podgroups")}
        pods = {obj["metadata"]["name"]: obj for obj in self.storm.pods()}
        for name, gang in list(self.live.items()):
            phase = (groups[name].get("status") or {}).get("phase", "")
            names = [member["metadata"]["name"] for member in gang.members]
            if phase in ENDED and not any(found in pods and is_live(pods[found]) for found in names):
                self.take_away(name, phase)
                continue
            for member in gang.members:
                if member["metadata"]["name"] not in pods:
                    self.storm.create(member)

    def take_away(self, name: str, phase: str) -> None:
        self.ended[name] = phase
        there = {obj["metadata"]["name"] for obj in self.storm.pods()}
        for member in self.live.pop(name).members:
            if member["metadata"]["name"] in there:
                self.storm.delete("pod", member["metadata"]["name"])
        self.storm.delete("podgroup", name)

    def _give_up(self) -> None:
        """Somebody loses patience with a gang, whatever it does."""
        if self.live:
            self.take_away(self._random.choice(sorted(self.live)), GIVEN_UP)

    def _kill(self) -> None:
        parts = sorted(part for part in self.storm.yard.parts if part.partition(" ")[2] != self._lost)
        self.storm.restart(self._random.choice(parts))

    def _fail_writes(self) -> None:
        self.storm.fail_writes(self._random.randint(1, 3))

    def _refuse(self) -> None:
        """The Bindings of the next gang's second member are refused until further notice: half of it is bound."""
        self.storm.refused = {f"gang-{self.done['_arrive']}-1": self._random.choice((403, 500))}

    def _lose(self) -> None:
        """A machine dies with all that is on it; the one before comes back."""
        self._find()
        self._lost = self._random.choice(self.storm.nodes).name
        for kind in ("plugin", "kubelet"):
            self.storm.yard.parts[f"{kind} {self._lost}"].end()
        self.storm.calm = False

    def _find(self) -> None:
        if self._lost is not None:
            self.storm.yard.join(self._lost)
        self._lost = None

    # --- what must hold

    def _notice(self, _part: str, write: Write) -> None:
        """Leases and events change nothing that is looked at."""
        self._written = self._written or "/pods/" in write.path

    def wait(self, seconds: float) -> None:
        for happened in self.storm.until(self.storm.now + seconds):
            if self._written or self.storm.now >= self._checked_at + OFTEN_SECONDS:
                self._written, self._checked_at = False, self.storm.now
                pods = self.storm.pods()
                found = [*laws.shared_by_status(self.storm, pods), *self._half.look(self.storm, pods)]
                self.broken += [f"{happened}: {law}" for law in found]
        self.broken += [*laws.shared_by_kubelets(self.storm), *laws.miscounted(self.storm)]

    def unexplained(self) -> list[str]:
        """Gangs that have not ended, and of which nobody says why."""
        groups = {obj["metadata"]["name"]: obj.get("status") or {} for obj in self.storm.objects("podgroups")}
        return [
            name
            for name in self.live
            if groups[name].get("phase") != "Running"
            and not any(condition.get("message") for condition in groups[name].get("conditions") or ())
        ]
