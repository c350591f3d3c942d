"""The operators of tests/e2e/operators beside a real cluster: their jobs are gangs there as on the embedded one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuyard.writes import JSON
from tests.e2e.kind.cluster import GPUS, play
from tests.e2e.kind.test_takeover import reachable
from tests.e2e.operators.gangs import Place
from tests.e2e.operators.jobs import ALL, Jobs, start_or_wait_as_a_whole
from tests.e2e.operators.programs import Operator, Running, kubectl, published, started
from tests.e2e.stories.cluster import Cluster


def reached(operator: Operator) -> Operator:
    """The operator on this machine, called by the API server there."""
    if operator.webhooks is None:
        return operator
    return replace(operator, webhooks=replace(operator.webhooks, address=reachable()))


@pytest.fixture(params=ALL, ids=lambda jobs: jobs.operator.name)
def jobs(request: pytest.FixtureRequest) -> Jobs:
    found: Jobs = request.param
    return found


@pytest.fixture
def running(jobs: Jobs, kubeconfig: str, operators: Path, tmp_path: Path) -> Iterator[Running]:
    operator = reached(jobs.real or jobs.operator)
    with started(operator, operators, Path(kubeconfig), tmp_path / "log") as running:
        yield running
    manifests = published(running.kubeconfig, running.source / operator.manifests)
    kubectl(running.kubeconfig, "delete", "--filename=-", given=manifests)


def idle(job: JSON, templates: list[JSON]) -> None:
    """Let pods do nothing in an image that the nodes have: what their containers do is of no matter here."""
    # KubeRay's: that it leaves the command alone.
    job["metadata"].setdefault("annotations", {})["ray.io/overwrite-container-cmd"] = "true"
    for template in templates:
        spec = template["spec"]
        spec["terminationGracePeriodSeconds"] = 1
        spec["containers"][0] |= {"image": "busybox:1.36", "command": ["sleep", "3600"]}
        for key in ("args", "lifecycle", "volumeMounts"):
            spec["containers"][0].pop(key, None)
        spec.pop("volumes", None)


def test_all_members_start_together_or_wait_together(kubeconfig: str, jobs: Jobs, running: Running) -> None:
    async def story(cluster: Cluster) -> None:
        await start_or_wait_as_a_whole(Place(cluster.api, cluster.namespace, running), jobs, GPUS, idle)

    play(kubeconfig, f"{jobs.operator.name}-jobs", story)
