"""Pods that lead a gang and start before it, with it or after it, while minMember stays what the client wrote."""

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from tests.gang_operator.test_life import evictions
from tests.gang_operator.world import World, pod_path

MPI = "training.kubeflow.org/operator-name"
LAUNCHER = {MPI: "mpi-operator", "training.kubeflow.org/job-role": "launcher"}
WORKER = {MPI: "mpi-operator", "training.kubeflow.org/job-role": "worker"}
DRIVER, EXECUTOR = {"spark-role": "driver"}, {"spark-role": "executor"}
NODE, SUBMITTER = {"ray.io/node-type": "worker"}, {"batch.kubernetes.io/job-name": "submit"}


@pytest.fixture
def world() -> World:
    found = World()
    for number in range(1, 4):
        found.node(f"node-{number}", gpus=1)
    return found


def member(world: World, name: str, marks: JSON, gpus: int = 1) -> None:
    world.pod(name, gpus)
    world.api.patch(pod_path(name), {"metadata": {"labels": marks}})
    world.settle()


def gang(world: World, minimum: int, **marks: JSON) -> None:
    world.group(minMember=minimum)
    for name, found in marks.items():
        member(world, name, found, gpus=0 if found in (LAUNCHER, DRIVER, SUBMITTER) else 1)


def test_a_driver_starts_alone_and_its_executors_together(world: World) -> None:
    gang(world, 3, driver=DRIVER)
    assert world.gates("driver") == []
    world.bind("driver", "node-3")
    world.phase("driver", "Running")
    world.advance(60)
    member(world, "a", EXECUTOR)
    world.advance(60)
    assert set(world.bound()) == {"driver"}
    assert world.condition()["message"] == "2/3 pods present"
    member(world, "b", EXECUTOR)
    world.advance(60)
    assert set(world.bound()) == {"driver", "a", "b"}
    assert (world.condition()["status"], evictions(world)) == ("True", [])


def test_executors_without_room_leave_their_driver_alone(world: World) -> None:
    gang(world, 5, driver=DRIVER)
    world.bind("driver", "node-1")
    for name in "abcd":
        member(world, name, EXECUTOR)
    world.advance(60)
    assert world.bound() == {"driver": "node-1"}
    assert (world.condition()["reason"], evictions(world)) == ("GangUnplaceable", [])


@pytest.mark.parametrize("restarts", [False, True])
def test_a_driver_with_gpus_starts_at_a_place_of_its_own(world: World, restarts: bool) -> None:
    """Its executors are made by it, so there is nobody to wait for."""
    world.group(minMember=3)
    world.binds_refused.add("driver")
    member(world, "driver", DRIVER)
    assert (world.gates("driver"), world.questions[-1].needed) == ([], 1)
    assert world.places() is not None
    if restarts:
        world.restart()
    world.binds_refused.clear()
    world.settle()
    assert (set(world.bound()), world.places()) == ({"driver"}, None)
    assert (world.condition()["status"], world.condition()["message"]) == ("False", "1/3 pods present")
    member(world, "a", EXECUTOR)
    world.advance(60)
    assert set(world.bound()) == {"driver"}
    member(world, "b", EXECUTOR)
    assert set(world.bound()) == {"driver", "a", "b"}
    assert (world.condition()["status"], evictions(world)) == ("True", [])


def test_a_driver_with_gpus_for_which_there_is_no_room_says_so(world: World) -> None:
    world.group(minMember=3)
    member(world, "driver", DRIVER, gpus=2)
    assert (world.condition()["reason"], world.gates("driver")) == ("GangUnplaceable", [vocabulary.GANG_GATE])
    assert world.condition()["message"].startswith('pod "driver" does not fit')


def test_a_driver_with_gpus_that_comes_again_starts_beside_its_executors(world: World) -> None:
    test_a_driver_with_gpus_starts_at_a_place_of_its_own(world, restarts=False)
    world.phase("driver", "Failed")
    member(world, "again", DRIVER)
    assert {"again", "a", "b"} <= set(world.bound())


def test_a_driver_that_waits_keeps_no_half_of_its_executors_bound(world: World) -> None:
    test_a_driver_with_gpus_starts_at_a_place_of_its_own(world, restarts=False)
    for name in ("driver", "a", "b"):
        world.delete(pod_path(name))
    world.settle()
    member(world, "large", DRIVER, gpus=2)
    member(world, "c", EXECUTOR)
    world.bind_by_hand("c", "node-1")
    world.advance(4.9)
    assert world.bound() == {}


def test_a_launcher_starts_with_its_workers(world: World) -> None:
    gang(world, 3, launcher=LAUNCHER, a=WORKER)
    world.advance(60)
    assert world.gates("launcher") == [vocabulary.GANG_GATE]
    member(world, "b", WORKER)
    assert set(world.bound()) == {"launcher", "a", "b"}


@pytest.mark.parametrize("conditions", [True, False])
def test_workers_wait_some_seconds_for_a_launcher_that_is_made_when_they_run(
    world: World, conditions: bool
) -> None:
    """mpi-operator counts it in minMember all the same, when launcherCreationPolicy is WaitForWorkersReady."""
    world.keep_conditions(conditions)
    gang(world, 3, a=WORKER, b=WORKER)
    world.advance(4)
    assert world.bound() == {}
    world.advance(2)
    assert set(world.bound()) == {"a", "b"}
    for name in "ab":
        world.phase(name, "Running")
    world.advance(60)
    member(world, "launcher", LAUNCHER, gpus=0)
    assert set(world.bound()) == {"a", "b", "launcher"}
    world.phase("launcher", "Running")
    world.advance(60)
    assert (world.status()["phase"], evictions(world)) == ("Running", [])


def test_nobody_waits_in_vain_where_workers_are_missing_and_not_the_launcher(world: World) -> None:
    gang(world, 4, launcher=LAUNCHER, a=WORKER, b=WORKER)
    world.advance(60)
    assert world.bound() == {}
    world.delete(pod_path("launcher"))
    world.advance(60)
    assert world.bound() == {}


def test_a_submitter_does_not_count_and_starts_after_the_ray_nodes(world: World) -> None:
    """G7."""
    gang(world, 3, a=NODE, b=NODE, submit=SUBMITTER)
    world.advance(60)
    assert world.bound() == {}
    member(world, "c", NODE)
    assert set(world.bound()) == {"a", "b", "c", "submit"}


def test_a_submitter_that_has_done_its_work_does_not_let_half_a_cluster_start(world: World) -> None:
    gang(world, 2, a=NODE, b=NODE, submit=SUBMITTER)
    world.phase("submit", "Succeeded")
    for name in "ab":
        world.delete(pod_path(name))
    world.settle()
    member(world, "a", NODE)
    world.advance(60)
    assert "a" not in world.bound()
