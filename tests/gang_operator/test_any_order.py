"""Whatever happens to the operator on the way, the end is the same, and no gang is half bound for more than 5 s."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.groups import reservations
from gpuyard.writes import Write
from gpuyard_operator.cache import PATHS
from tests.gang_operator.world import World, pod_path

HALF_BOUND_SECONDS = 5.0
GANGS = {"ring": ("a", "b"), "tree": ("x", "y", "z")}

orders = st.permutations(["node-1", "node-2", "node-3", "ring", "tree", *GANGS["ring"], *GANGS["tree"]])
kinds = st.sampled_from(["crash", "fail", "wait", "shuffle", "refuse", "delete"])
troubles = st.lists(st.tuples(st.integers(1, 10), kinds, st.integers(0, 9)), max_size=14)
"""After how many appearances, what happens, and a number that says how."""


class Watchful(World):
    """A world that measures how long each gang is half bound, whenever time passes."""

    def __init__(self) -> None:
        super().__init__()
        self._half_since: dict[str, float] = {}
        self._revision = 0

    def look(self) -> None:
        for name, members in GANGS.items():
            if 0 < len(set(members) & self.bound().keys()) < len(members):
                since = self._half_since.setdefault(name, self.clock.now())
                assert self.clock.now() - since <= HALF_BOUND_SECONDS, f"{name} is half bound"
            else:
                self._half_since.pop(name, None)

    def tick(self, seconds: float) -> None:
        for _ in range(int(seconds * 2)):
            self.advance(0.5)
            if self.api.server.revision != self._revision or self._half_since:
                self._revision = self.api.server.revision
                self.look()

    def appear(self, name: str) -> None:
        """The named object comes, unless it is there."""
        if name.startswith("node"):
            self.node(name, gpus=2)
        elif name in GANGS:
            self.group(name, minMember=len(GANGS[name]))
        else:
            group = next(group for group, members in GANGS.items() if name in members)
            if self.at(pod_path(name)) is None:
                self.pod(name, group=group)

    def suffer(self, kind: str, number: int) -> None:
        members = [name for names in GANGS.values() for name in names]
        match kind:
            case "crash":
                self._crash_after(number)
            case "fail":
                self._fail_write(number)
            case "wait":
                self.tick(number / 2)
            case "shuffle":
                self.arrival.insert(0, self.arrival.pop(number % len(self.arrival)))
            case "refuse":
                self.binds_refused ^= {members[number % len(members)]}
            case "delete" if self.at(pod_path(name := members[number % len(members)])) is not None:
                # A gang that has started may lose a member; here only waiting ones do.
                group = next(names for names in GANGS.values() if name in names)
                if not set(group) & self.bound().keys():
                    self.delete(pod_path(name))

    def _crash_after(self, writes: int) -> None:
        """The operator dies between two of its next writes, and a new one takes over."""
        end = len(self.api.writes) + writes
        while len(self.api.writes) < end and (self.deliver() or self.clock.step() is not None):
            pass
        self.restart()

    def _fail_write(self, number: int) -> None:
        at = len(self.api.writes) + number + 1
        self.api.fails = lambda write: len(self.api.writes) == at


@settings(deadline=None, max_examples=30)
@given(orders, troubles, st.sets(st.sampled_from("abxyz")))
def test_every_way_ends_all_or_nothing_and_the_same(
    order: list[str], troubles: list[tuple[int, str, int]], refused: set[str]
) -> None:
    world = Watchful()
    world.binds_refused |= refused
    for count, name in enumerate(order, start=1):
        world.appear(name)
        for when, kind, number in troubles:
            if when == count:
                world.suffer(kind, number)
                world.look()
    world.tick(7)
    world.binds_refused.clear()
    for _ in range(3):
        # Controllers bring back what was evicted or deleted.
        for name in order:
            if name not in GANGS and not name.startswith("node"):
                world.appear(name)
        world.tick(32)
    assert set(world.bound()) == {"a", "b", "x", "y", "z"}
    assert world.api.list(PATHS["reservations"]) == []
    for name in GANGS:
        assert world.condition(name=name)["status"] == "True"
        assert world.status(name)["phase"] == "Scheduling"
    written = len(world.api.writes)
    world.tick(40)
    assert len(world.api.writes) == written, "a gang that runs needs no write"


@pytest.mark.parametrize("conditions", [True, False])
def test_the_operator_may_die_before_any_of_its_writes(conditions: bool) -> None:
    for writes in range(12):
        world = Watchful()
        world.keep_conditions(conditions)
        for name in ("node-1", "ring", "a", "b"):
            world.appear(name)
        world.suffer("crash", writes)
        world.tick(6)
        assert set(world.bound()) == {"a", "b"}
        assert world.places() is None


@pytest.mark.parametrize("conditions", [True, False])
def test_any_one_write_may_fail(conditions: bool) -> None:
    failed: list[Write] = []
    for number in range(12):
        world = Watchful()
        world.keep_conditions(conditions)
        for name in ("node-1", "ring", "a", "b"):
            world.appear(name)
        world.suffer("fail", number)
        world.tick(6)
        failed += world.api.writes[number : number + 1]
        assert set(world.bound()) == {"a", "b"}
        assert (world.places(), world.condition()["status"]) == (None, "True")
        assert (world.at(reservations.path("default", "ring")) is None) == conditions
    assert {write.method for write in failed} == {"POST", "PATCH"} | ({"DELETE"} if conditions else set())
