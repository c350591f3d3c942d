"""Operators, unmodified, on an embedded cluster of 4 GPUs: their jobs are gangs, leaders and workers together."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.clients.conftest import served
from tests.e2e.operators.gangs import Place, play
from tests.e2e.operators.jobs import ALL, TRAINING, Jobs, start_or_wait_as_a_whole
from tests.e2e.operators.programs import Running, started

GPUS = 4
"""Of its two nodes."""


@pytest.fixture(scope="module", params=ALL, ids=lambda jobs: jobs.operator.name)
def jobs(request: pytest.FixtureRequest) -> Jobs:
    found: Jobs = request.param
    return found


@pytest.fixture(scope="module")
def running(jobs: Jobs, operators: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """On a cluster of its own: two of them bring other versions of one kind."""
    folder = tmp_path_factory.mktemp(jobs.operator.name)
    with served(folder) as kubeconfig, started(jobs.operator, operators, kubeconfig, folder / "log") as found:
        yield found


def test_all_members_start_together_on_planned_devices_or_wait_together_and_nothing_is_left(
    jobs: Jobs, running: Running
) -> None:
    async def story(place: Place) -> None:
        await start_or_wait_as_a_whole(place, jobs, GPUS)
        if jobs is TRAINING:
            await is_refused_by_its_webhook(place)

    play(running, f"{jobs.operator.name}-jobs", story)


async def is_refused_by_its_webhook(place: Place) -> None:
    job = place.running.sample(TRAINING.sample)
    job["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = 2
    assert "spec.pytorchReplicaSpecs[Master].replicas" in await place.refused(TRAINING.resource, job)
