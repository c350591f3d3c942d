"""What the ledger believes does not depend on what is done to the machine's clock."""

import pytest

from gpuyard.placing.cluster import Placement
from gpuyard_extender import settings
from gpuyard_extender.claims import Grade
from gpuyard_extender.ledger import Ledger
from gpuyard_kube.runtime import Clock
from tests.extender.builders import device, gpu_node, gpu_pod

HOUR = 3600.0
GPU = device("node-1", 0)


class Extender:
    """A ledger that assumes a pod, on a machine whose wall clock is set right afterwards."""

    def __init__(self, grade: Grade, step: float) -> None:
        self.passed = self.set_by = 0.0
        self.clock = Clock(lambda: 1e9 + self.passed + self.set_by, lambda: self.passed)
        self.ledger = Ledger()
        self.ledger.replace("nodes", [gpu_node("node-1", 1)])
        self.ledger.replace("pods", [gpu_pod("a")])
        placement = Placement("uid-a", "node-1", {"train": {"nvidia.com/gpu": (GPU,)}}, {})
        self.ledger.assume(placement, grade, self.clock.now())
        self.set_by = step

    def owners_after(self, seconds: float) -> dict[str, str]:
        self.passed += seconds
        return dict(self.ledger.cluster(self.clock.now()).nodes["node-1"].owners)


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_a_gpu_stays_its_pods_when_the_clock_is_set_between_a_binding_and_its_event(step: float) -> None:
    extender = Extender(Grade.BOUND, step)
    assert extender.owners_after(0.1) == {GPU: "uid-a"}
    assert extender.owners_after(settings.SENT_SECONDS * 0.9) == {GPU: "uid-a"}


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_what_was_assumed_for_seconds_ends_within_seconds_when_the_clock_is_set(step: float) -> None:
    extender = Extender(Grade.TENTATIVE, step)
    assert extender.owners_after(settings.TENTATIVE_SECONDS * 0.9) == {GPU: "uid-a"}
    assert extender.owners_after(settings.TENTATIVE_SECONDS * 0.3) == {}
