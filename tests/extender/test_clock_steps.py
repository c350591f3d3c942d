"""What the ledger believes does not depend on what is done to the machine's clock."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuyard.placing.cluster import Placement
from gpuyard.writes import JSON
from gpuyard_extender import settings
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.expectations import Expectation
from gpuyard_extender.ledger.ledger import PATHS, Ledger
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from tests.extender.builders import PodServer, device, gpu_node, gpu_pod
from tests.kube.test_election import SetClock
from tests.stepping import settle

HOUR = 3600.0
GPU = device("node-1", 0)
PLACEMENT = Placement("uid-a", "node-1", {"train": {"nvidia.com/gpu": (GPU,)}}, {})


class Machine:
    """A ledger on a machine whose clock is set by so many seconds."""

    def __init__(self) -> None:
        self.passed = self.set_by = 0.0
        self.ledger = Ledger(at=lambda _now: self.passed)
        self.ledger.replace("nodes", [gpu_node("node-1", 1)])
        self.ledger.replace("pods", [gpu_pod("a")])

    @property
    def now(self) -> float:
        return 1e9 + self.passed + self.set_by

    def owners_after(self, seconds: float) -> list[str]:
        self.passed += seconds
        return [*self.ledger.cluster(self.now).nodes["node-1"].owners.values()]


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_a_gpu_stays_its_pods_when_the_clock_is_set_between_a_binding_and_its_event(
    machine: Machine, step: float
) -> None:
    machine.ledger.assume(PLACEMENT, Grade.BOUND, machine.now)
    machine.set_by = step
    assert machine.owners_after(settings.SENT_SECONDS - 1) == ["uid-a"]
    assert machine.owners_after(1) == []


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_room_is_kept_for_as_long_as_it_was_to_be(machine: Machine, step: float) -> None:
    machine.ledger.expectations.put(Expectation(PLACEMENT, 0, machine.passed + 5))
    machine.ledger.settle("uid-a")
    machine.set_by = step
    assert machine.owners_after(4) == ["uid-a"]
    assert machine.owners_after(1) == []


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_who_waits_for_the_end_of_what_was_assumed_waits_no_longer(machine: Machine, step: float) -> None:
    machine.ledger.assume(PLACEMENT, Grade.TENTATIVE, machine.now)
    machine.set_by = step
    machine.passed = 1.0
    assert machine.ledger.next_expiry(machine.now) == machine.now + settings.TENTATIVE_SECONDS - 1


MOMENTS = st.floats(1_600_000_000, 1_900_000_000)


@given(now=MOMENTS, left=st.floats(0, settings.TENTATIVE_SECONDS), early=st.integers(1, 3))
def test_however_late_one_asks_one_waits_for_the_very_moment_at_which_an_assumption_ends(
    now: float, left: float, early: int
) -> None:
    """Who woke too early, by what a sum of two moments loses, woke again and again."""
    ledger = Ledger()
    ledger.assume(PLACEMENT, Grade.TENTATIVE, now)
    end = now + settings.TENTATIVE_SECONDS
    for asked in (now, max(now, end - left), end - early * math.ulp(end)):
        assert ledger.next_expiry(asked) == end


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_the_extender_keeps_to_it(step: float) -> None:
    clock = SetClock()
    extender = Extender(PodServer(clock), clock, Settings())
    pods = [gpu_pod("first"), gpu_pod("second")]
    for resource, objects in {**dict.fromkeys(PATHS, ()), "nodes": [gpu_node("n1", 1)], "pods": pods}.items():
        extender.replace(resource, objects)

    def passing(pod: JSON) -> list[str]:
        found = extender.filter({"Pod": pod, "NodeNames": ["n1"]})
        settle(clock, clock.steady())
        return [*found["NodeNames"]]

    assert passing(pods[0]) == ["n1"]
    clock.by = step
    assert passing(pods[1]) == []
    settle(clock, clock.steady() + settings.TENTATIVE_SECONDS)
    assert passing(pods[1]) == ["n1"]
