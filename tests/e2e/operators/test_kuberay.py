"""KubeRay, unmodified: head and workers of a RayCluster are a gang."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from tests.e2e.operators.gangs import Place, has, leaves_nothing, play, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Operator, Running, started

CLUSTERS = "apis/ray.io/v1 rayclusters"
OPERATOR = Operator(
    "kuberay",
    "config/default",
    (
        "--batch-scheduler=scheduler-plugins",
        "--enable-leader-election=false",  # the namespace of its Lease it knows only within a pod
        "--metrics-addr=0",
        "--health-probe-bind-address=0",
    ),
)


@pytest.fixture(scope="module")
def running(operators: Path, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with started(OPERATOR, operators, kubeconfig, tmp_path_factory.mktemp("kuberay") / "log") as running:
        yield running


def ray_cluster(running: Running, workers: int) -> JSON:
    """The published sample of a gang, whose workers ask for no GPU, with one for each."""
    cluster = running.sample("config/samples/ray-cluster.scheduler-plugins.yaml")
    [group] = cluster["spec"]["workerGroupSpecs"]
    group |= {"replicas": workers, "minReplicas": workers, "maxReplicas": workers}
    group["template"]["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU] = 1
    return cluster


def test_head_and_workers_run_on_planned_devices_and_leave_nothing(running: Running) -> None:
    async def story(place: Place) -> None:
        name = await place.submit(CLUSTERS, ray_cluster(running, workers=2))
        await runs_as_a_whole(place, name, members=3, gpus=2)
        await has(place, f"services/{name}-head-svc")
        assert (await place.group(name))["spec"]["minMember"] == 3
        await leaves_nothing(place, CLUSTERS, name)

    play(running, "fits", story)


def test_a_cluster_that_is_too_large_waits_as_a_whole_with_its_head_and_says_why(running: Running) -> None:
    async def story(place: Place) -> None:
        name = await place.submit(CLUSTERS, ray_cluster(running, workers=7))
        message = await waits_as_a_whole(place, name, members=8)
        assert "all 8 members need 7 nvidia.com/gpu, all nodes have 4" in message
        await leaves_nothing(place, CLUSTERS, name)

    play(running, "too-large", story)
