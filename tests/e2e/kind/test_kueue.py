"""Kueue above us on a real cluster, as its authors publish it: its pod, its webhooks, its API."""

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from gpuyard.writes import PatchType, Write
from gpuyard_cli.backends import kind as kind_backend
from tests.e2e.kind.cluster import play
from tests.e2e.operators import kueue
from tests.e2e.operators.gangs import Place
from tests.e2e.operators.programs import Running, kubectl
from tests.e2e.stories.cluster import Cluster, until

_IMAGE: Final = "gpuyard/kueue:test"
_PUBLISHED: Final = re.compile(r"image: \S+/kueue:main\n( +)imagePullPolicy: Always")
"""Nothing is pulled here: the nodes get the same program, built from its module."""
_PODS: Final = "/api/v1/namespaces/kueue-system/pods"
_DEPLOYMENT: Final = "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager"
_LOOKS: Final = 50
"""After so many its pods change again: a kubelet that looks too early sees no certificates yet."""
_DOCKERFILE: Final = "FROM scratch\nCOPY program /manager\nUSER 65532:65532\n"


@pytest.fixture
def running(kubeconfig: str, operators: Path, tmp_path: Path) -> Iterator[Running]:
    running = Running(Path(kubeconfig), operators / "kueue/source", tmp_path / "log")
    running.log.touch()
    load(operators / "kueue/program", tmp_path)
    published = kubectl(running.kubeconfig, "kustomize", str(running.source / "config/default"))
    manifests = _PUBLISHED.sub(rf"image: {_IMAGE}\n\1imagePullPolicy: Never", published)
    kubectl(running.kubeconfig, "apply", "--server-side", "--filename=-", given=manifests)
    try:
        asyncio.run(_serves(kubeconfig))
        yield running
        # While Kueue is there, for these have finalizers of its.
        kubectl(running.kubeconfig, "delete", "localqueue,clusterqueue,resourceflavor", "--all", "-A")
    finally:
        kubectl(running.kubeconfig, "delete", "--filename=-", given=manifests)


async def _serves(kubeconfig: str) -> None:
    """Until it does: its certificates come when the kubelet looks at a pod that changes, otherwise within 90 s."""
    async with kind_backend.connected(kubeconfig) as api:
        looks = count()

        async def is_ready() -> bool:
            look = next(looks)
            if look % _LOOKS == 0:
                stamp = {"metadata": {"annotations": {"example.com/looked-at": str(look)}}}
                for pod in (await api.read(_PODS)).body["items"]:
                    await api.send(
                        Write("PATCH", f"{_PODS}/{pod['metadata']['name']}", stamp, PatchType.MERGE)
                    )
            status = (await api.read(_DEPLOYMENT)).body.get("status") or {}
            return bool(status.get("readyReplicas"))

        await until(is_ready, "Kueue serves its webhooks", seconds=170)


def load(program: Path, folder: Path) -> None:
    """An image of the program, in all nodes."""
    (folder / "Dockerfile").write_text(_DOCKERFILE)
    shutil.copy(program, folder / "program")
    cluster = os.environ["GPUYARD_E2E_CLUSTER"]
    for command in (
        ["docker", "build", "--tag", _IMAGE, str(folder)],
        ["kind", "load", "docker-image", "--name", cluster, _IMAGE],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


def test_a_gang_waits_for_its_quota_and_then_runs_on_planned_devices(
    kubeconfig: str, running: Running
) -> None:
    async def story(cluster: Cluster) -> None:
        await kueue.one_after_the_other(Place(cluster.api, cluster.namespace, running))

    play(kubeconfig, "kueue", story)
