"""Kubeflow's training operator, unmodified, beside a real cluster, which calls its webhooks."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuyard.writes import JSON
from tests.e2e.kind.beside import idle, installed
from tests.e2e.kind.cluster import GPUS, play
from tests.e2e.operators.gangs import Place, has, leaves_nothing, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Operator, Running
from tests.e2e.operators.test_training_operator import JOBS, OPERATOR, SAMPLE, submit
from tests.e2e.stories.cluster import Cluster

# What the operator adds to workers waits for the master's name, which needs a DNS server.
_AT_ONCE = """\
- name: init-pytorch
  image: busybox:1.36
  command: ["true"]
"""


def reached_at(host: str, folder: Path) -> Operator:
    """The operator on this machine, called by the API server there."""
    assert OPERATOR.webhooks is not None
    template = folder / "init-container.yaml"
    template.write_text(_AT_ONCE)
    flags = (*OPERATOR.flags, f"--pytorch-init-container-template-file={template}")
    return replace(OPERATOR, flags=flags, webhooks=replace(OPERATOR.webhooks, address=host))


@pytest.fixture
def running(kubeconfig: str, operators: Path, tmp_path: Path) -> Iterator[Running]:
    host = os.environ.get("GPUYARD_E2E_HOST")
    if host is None:
        pytest.skip("the nodes of this cluster cannot reach this machine, where the webhooks are served")
    operator = reached_at(host, tmp_path)
    with installed(operator, operators, Path(kubeconfig), tmp_path / "log") as running:
        yield running


def job(running: Running, workers: int) -> JSON:
    found = running.sample(SAMPLE)
    roles = found["spec"]["pytorchReplicaSpecs"]
    roles["Worker"]["replicas"] = workers
    idle(role["template"] for role in roles.values())
    return found


def test_master_and_workers_start_together_or_wait_together(kubeconfig: str, running: Running) -> None:
    async def story(cluster: Cluster) -> None:
        place = Place(cluster.api, cluster.namespace, running)
        name = await submit(place, job(running, workers=2))
        await runs_as_a_whole(place, name, members=3, gpus=3)
        await has(place, f"services/{name}-master-0", f"services/{name}-worker-1")
        await leaves_nothing(place, JOBS, name)
        await submit(place, job(running, workers=GPUS))
        message = await waits_as_a_whole(place, name, members=GPUS + 1)
        assert f"all {GPUS + 1} members need {GPUS + 1} nvidia.com/gpu, all nodes have {GPUS}" in message
        await leaves_nothing(place, JOBS, name)

    play(kubeconfig, "training-jobs", story)
