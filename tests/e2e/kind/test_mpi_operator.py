"""The MPI operator, unmodified, beside a real cluster: its jobs are gangs there as on the embedded one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuyard.writes import JSON
from tests.e2e.kind.beside import idle, installed
from tests.e2e.kind.cluster import GPUS, play
from tests.e2e.operators.gangs import Place, has, leaves_nothing, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Running
from tests.e2e.operators.test_mpi_operator import JOBS, OPERATOR, SAMPLE
from tests.e2e.stories.cluster import Cluster


@pytest.fixture
def running(kubeconfig: str, operators: Path, tmp_path: Path) -> Iterator[Running]:
    with installed(OPERATOR, operators, Path(kubeconfig), tmp_path / "log") as running:
        yield running


def job(running: Running, workers: int) -> JSON:
    found = running.sample(SAMPLE)
    roles = found["spec"]["mpiReplicaSpecs"]
    roles["Worker"]["replicas"] = workers
    idle(role["template"] for role in roles.values())
    return found


def test_launcher_and_workers_start_together_or_wait_together(kubeconfig: str, running: Running) -> None:
    async def story(cluster: Cluster) -> None:
        place = Place(cluster.api, cluster.namespace, running)
        name = await place.submit(JOBS, job(running, workers=2))
        await runs_as_a_whole(place, name, members=3, gpus=2)
        await has(place, f"services/{name}", f"configmaps/{name}-config", f"secrets/{name}-ssh")
        await leaves_nothing(place, JOBS, name)
        await place.submit(JOBS, job(running, workers=GPUS + 1))
        message = await waits_as_a_whole(place, name, members=GPUS + 2)
        assert f"all {GPUS + 2} members need {GPUS + 1} nvidia.com/gpu, all nodes have {GPUS}" in message
        await leaves_nothing(place, JOBS, name)

    play(kubeconfig, "mpi-operator-jobs", story)
