"""KubeRay, unmodified, beside a real cluster: head and workers are a gang there as on the embedded one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuyard.writes import JSON
from tests.e2e.kind.beside import idle, installed
from tests.e2e.kind.cluster import GPUS, play
from tests.e2e.operators.gangs import Place, has, leaves_nothing, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Running
from tests.e2e.operators.test_kuberay import CLUSTERS, OPERATOR, ray_cluster
from tests.e2e.stories.cluster import Cluster

WITHOUT_RAY = replace(
    OPERATOR,
    # Both would ask for Ray in an image that has none.
    environment={"ENABLE_INIT_CONTAINER_INJECTION": "false", "ENABLE_PROBES_INJECTION": "false"},
)


@pytest.fixture
def running(kubeconfig: str, operators: Path, tmp_path: Path) -> Iterator[Running]:
    with installed(WITHOUT_RAY, operators, Path(kubeconfig), tmp_path / "log") as running:
        yield running


def idling(running: Running, workers: int) -> JSON:
    found = ray_cluster(running, workers)
    found["metadata"].setdefault("annotations", {})["ray.io/overwrite-container-cmd"] = "true"
    idle(group["template"] for group in (found["spec"]["headGroupSpec"], *found["spec"]["workerGroupSpecs"]))
    return found


def test_head_and_workers_start_together_or_wait_together(kubeconfig: str, running: Running) -> None:
    async def story(cluster: Cluster) -> None:
        place = Place(cluster.api, cluster.namespace, running)
        name = await place.submit(CLUSTERS, idling(running, workers=2))
        await runs_as_a_whole(place, name, members=3, gpus=2)
        await has(place, f"services/{name}-head-svc")
        await leaves_nothing(place, CLUSTERS, name)
        await place.submit(CLUSTERS, idling(running, workers=GPUS + 1))
        message = await waits_as_a_whole(place, name, members=GPUS + 2)
        assert f"all {GPUS + 2} members need {GPUS + 1} nvidia.com/gpu, all nodes have {GPUS}" in message
        await leaves_nothing(place, CLUSTERS, name)

    play(kubeconfig, "kuberay-clusters", story)
