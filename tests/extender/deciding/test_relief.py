"""What becomes free while it is looked for who has to go: nobody goes who need not any more, while there is time."""

from collections import Counter

import pytest

from gpuyard import annotations, vocabulary
from gpuyard.groups.plans import PlanAnswer, Planned
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard.writes import JSON
from gpuyard_extender.deciding.searching import Found
from tests.extender.builders import Stage, device, gpu_node, gpu_pod
from tests.extender.deciding.test_evicting import asked, gang, planned, waiting
from tests.extender.deciding.test_preempt_verb import running
from tests.extender.deciding.test_searching import answered

QUESTION = asked("u0", "u1")
CORDONED = {"unschedulable": True}


def full() -> Stage:
    """Two nodes of two GPUs, on each a pod that has to go for a gang of two, and one that had better stay."""
    stage = Stage(gpu_node("n1"), gpu_node("n2"), gpu_node("n3", 0), {**gpu_node("n4", 1), "spec": CORDONED})
    gang(stage, "urgent", 2)
    for node, low, high in ("n1", "a", "x"), ("n2", "b", "y"):
        stage.create(running(low, node, 0), running(high, node, 1, priority=5))
    stage.create(waiting("u0"), waiting("u1"))
    return stage


def victims(answer: PlanAnswer | None) -> set[str]:
    assert isinstance(answer, Planned), answer
    return {victim.name for victim in answer.reservation.victims}


@pytest.mark.parametrize("what", ["ended", "ends", "joined", "grew", "opened"])
def test_whoever_need_not_go_any_more_stays(what: str) -> None:
    stage = full()

    def happens() -> None:
        match what:
            case "ended":
                stage.delete(stage.server.pods["x"])
            case "ends":
                stage.change("x", "metadata", deletionTimestamp="2026-01-01T00:00:00Z")
            case "joined":
                stage.extender.observe("nodes", "ADDED", gpu_node("n5", 1))
            case "grew":
                stage.extender.observe("nodes", "MODIFIED", gpu_node("n3", 1))
            case "opened":
                stage.extender.observe("nodes", "MODIFIED", gpu_node("n4", 1))

    assert answered(stage, QUESTION, happens) is None, "looked for anew"
    assert len({"a", "b"} & {victim.name for victim in planned(stage, "u0", "u1").victims}) == 1


@pytest.mark.parametrize("what", ["joined", "ended", "gone", "arrived"])
def test_what_is_of_no_help_keeps_nobody_waiting(what: str) -> None:
    """A node without GPUs, CPU where there is enough, a GPU that was to become free, and the opposite of free."""
    stage = full()
    stage.create(gpu_pod("cpu", 0, node="n1", phase="Running"))
    if what == "gone":
        stage.extender.observe("nodes", "ADDED", gpu_node("n5", 1))
        stage.create(running("going", "n5", 0, priority=1000, terminating=True))

    def happens() -> None:
        match what:
            case "joined":
                stage.extender.observe("nodes", "ADDED", gpu_node("n5", 0))
            case "ended":
                stage.delete(stage.server.pods["cpu"])
            case "gone":
                stage.delete(stage.server.pods["going"])
            case "arrived":
                stage.create(gpu_pod("more", 0, node="n1", phase="Running"))

    found = victims(answered(stage, QUESTION, happens))
    assert found == ({"going", "a"} if what == "gone" else {"a", "b"})


def test_where_something_becomes_free_time_and_again_the_third_search_is_answered() -> None:
    stage, before = full(), None
    for i in range(3):
        before = stage.extender.search(QUESTION, before)()
        assert isinstance(before, Found)
        stage.delete(stage.server.pods["x" if i == 0 else f"x{i}"])
        answer = stage.extender.planned(QUESTION, before)
        assert (answer is None) == (i < 2)
        stage.create(running(f"x{i + 1}", "n1", 1, priority=5))
    assert victims(answer) == {"a", "b"}


def test_a_hole_for_a_large_instance_is_free_once_a_small_one_ends() -> None:
    """No count tells: there are as many large instances left as before."""
    stage = Stage(cut("n1"), cut("n2"))
    gang(stage, "urgent", 2)
    for node, low, high in ("n1", "a", "x"), ("n2", "b", "y"):
        stage.create(small(low, node, 1, priority=0), small(high, node, 5, priority=5))
    large = [gpu_pod(f"u{i}", group="urgent", resource="nvidia.com/mig-3g.20gb") for i in range(2)]
    for pod in large:
        pod["spec"]["priority"] = 100
    stage.create(*large)
    assert answered(stage, QUESTION, lambda: stage.delete(stage.server.pods["x"])) is None, "looked for anew"
    assert len(planned(stage, "u0", "u1").victims) == 1


def instances(node: str) -> Inventory:
    gpu = GPU(0, device(node, 0), "NVIDIA-A100-SXM4-40GB", 40960)
    return Inventory((gpu,), mig_strategy=MigStrategy.DYNAMIC)


def cut(name: str) -> JSON:
    """A node with one GPU that is cut into instances as pods come."""
    found, inventory = gpu_node(name, 1), instances(name)
    found["metadata"]["annotations"] = {vocabulary.INVENTORY: annotations.write_inventory(inventory)}
    counts = Counter(each.resource for each in inventory.devices())
    found["status"]["allocatable"] |= {resource: str(count) for resource, count in counts.items()}
    return found


def small(name: str, node: str, start: int, priority: int) -> JSON:
    place = [one for one in instances(node).devices() if (one.profile, one.start) == ("1g.5gb", start)]
    found = gpu_pod(name, resource=place[0].resource, node=node, plan=[place[0].id], phase="Running")
    found["spec"]["priority"] = priority
    return found
