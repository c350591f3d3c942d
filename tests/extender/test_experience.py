"""What the extender learns of typical pods, from those that hold a place."""

from gpuyard import vocabulary
from gpuyard_extender.experience import Experience
from gpuyard_extender.ledger import Ledger
from tests.extender.builders import device, gpu_node, gpu_pod


def test_typical_pods_are_those_that_are_bound_with_their_cpus_and_parts_of_gpus() -> None:
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node("whole", 4), gpu_node("shared", 1, shares=2)])
    experience = Experience(ledger.holdings)
    assert len(experience.workload().cpu) == 0
    pods = [gpu_pod(f"p{i}", 1, node="whole", plan=[device("whole", i)], cpu="3") for i in range(3)]
    share = gpu_pod(
        "s", 1, resource=vocabulary.GPU, node="shared", plan=[f"{device('shared', 0)}::1"], cpu="1"
    )
    waiting = gpu_pod("w", 1, cpu="7")
    ledger.replace("pods", [*pods, share, waiting, *(gpu_pod(f"c{i}", 0, node="whole") for i in range(40))])
    found = Experience(ledger.holdings).workload()
    known = set(zip(found.cpu.tolist(), found.count.tolist(), found.milli.tolist(), strict=True))
    assert (3000, 1, 1000) in known
    assert not any(cpu == 7000 for cpu, _, _ in known)


def test_it_learns_again_once_enough_has_changed() -> None:
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node("n", 8)])
    experience = Experience(ledger.holdings)
    assert len(experience.workload().cpu) == 0
    for i in range(40):
        ledger.observe("pods", "ADDED", gpu_pod(f"p{i}", 0, node="n", cpu="1"))
    assert experience.workload().cpu.tolist() == [1000]
