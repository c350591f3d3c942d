"""Whatever happens to the operator: no quota is ever exceeded, all have their turn, and its books are right."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.writes import JSON
from gpuyard_operator.cache import PATHS, Cache
from tests.gang_operator.world import World, gpus_of, group_path, pod_path

QUOTAS = {"red": 4, "blue": 2}
GANGS = {"a": ("red", 3), "b": ("red", 2), "c": ("blue", 2), "d": ("blue", 1), "e": ("red", 1)}
"""By name: queue and members, each with one GPU."""

kinds = st.sampled_from(["crash", "fail", "wait", "shuffle", "end", "come again"])
troubles = st.lists(st.tuples(kinds, st.integers(0, 9)), max_size=12)
orders = st.permutations(["node-1", *QUOTAS, *GANGS])


class Counting(World):
    """A world that looks at what the queues hold after every write."""

    def look(self) -> None:
        held = dict.fromkeys(QUOTAS, 0)
        reserved = {
            seat.uid
            for obj in self.api.list(PATHS["reservations"])
            for seat in (reservations.from_object(obj) or reservations.Reservation("", "", 1, 0, ())).seats
        }
        for pod in self.api.list(PATHS["pods"]):
            if pod["metadata"]["uid"] in reserved or pod["spec"].get("nodeName"):
                held[GANGS[pod["metadata"]["labels"][vocabulary.POD_GROUP]][0]] += gpus_of(pod)
        assert all(held[name] <= quota for name, quota in QUOTAS.items()), held

    def tick(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.advance(1)
            self.look()

    def appear(self, name: str) -> None:
        if name in QUOTAS:
            self.queue(name, QUOTAS[name])
        elif name in GANGS:
            queue, members = GANGS[name]
            self.group(name, queue=queue, minMember=members)
            for number in range(members):
                self.pod(f"{name}-{number}", group=name)
        else:
            self.node(name, gpus=5)

    def suffer(self, kind: str, number: int) -> None:
        name = [*GANGS][number % len(GANGS)]
        match kind:
            case "crash":
                for _ in range(number):
                    if not self.deliver() and self.clock.step() is None:
                        break
                self.restart()
            case "fail":
                at = len(self.api.writes) + number + 1
                self.api.fails = lambda write: len(self.api.writes) == at
            case "wait":
                self.tick(number)
            case "shuffle":
                self.arrival.insert(0, self.arrival.pop(number % len(self.arrival)))
            case "end" | "come again" if self.at(group_path(name)) is not None:
                self.end(name)
                if kind == "come again":
                    self.appear(name)

    def end(self, name: str) -> None:
        self.delete(group_path(name))
        for pod in self.api.list(PATHS["pods"]):
            if pod["metadata"]["labels"][vocabulary.POD_GROUP] == name:
                self.delete(pod_path(pod["metadata"]["name"]))


@settings(deadline=None, max_examples=12)
@given(orders, troubles)
def test_no_quota_is_ever_exceeded_and_all_have_their_turn(
    order: list[str], troubles: list[tuple[str, int]]
) -> None:
    world = Counting()
    for name in order:
        world.appear(name)
    for kind, number in troubles:
        world.suffer(kind, number)
        world.look()
    for _ in GANGS:
        world.tick(3)
        bound = {name.partition("-")[0] for name in world.bound()}
        assert bound or not world.api.list(PATHS["podgroups"])
        for name in bound:
            world.end(name)
    assert world.api.list(PATHS["podgroups"]) == []
    assert world.api.list(PATHS["reservations"]) == []


@settings(deadline=None, max_examples=12)
@given(orders, troubles)
def test_books_kept_event_by_event_are_those_that_are_made_anew(
    order: list[str], troubles: list[tuple[str, int]]
) -> None:
    world, kept = Counting(), Cache()
    for resource in PATHS:
        kept.replace(resource, [])
    seen: dict[str, dict[str, JSON]] = {resource: {} for resource in PATHS}

    def learn() -> None:
        """What has changed, as a watch tells it."""
        for resource, path in PATHS.items():
            listed = {obj["metadata"]["uid"]: obj for obj in world.api.list(path)}
            for uid in seen[resource].keys() - listed.keys():
                kept.observe(resource, "DELETED", seen[resource][uid])
            for obj in listed.values():
                kept.observe(resource, "MODIFIED", obj)
            seen[resource] = listed
        kept.queues.settle(world.clock.now())

    for name in order:
        world.appear(name)
        learn()
    for kind, number in troubles:
        world.suffer(kind, number)
        learn()
        anew = Cache()
        for resource, path in PATHS.items():
            anew.replace(resource, world.api.list(path))
        anew.queues.settle(world.clock.now())
        for name in QUOTAS:
            assert kept.queues.state(name).status() == anew.queues.state(name).status()
            assert kept.queues.state(name).waiting() == anew.queues.state(name).waiting()
        for name in GANGS:
            assert kept.queues.admission(("default", name)) == anew.queues.admission(("default", name))
    world.advance(3)  # nothing that was begun may be left undone
