"""Kueue above us on a real cluster, as its authors publish it: its pod, its webhooks, its API."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.kind.cluster import play
from tests.e2e.operators import kueue
from tests.e2e.operators.gangs import Place
from tests.e2e.operators.programs import Running, kubectl
from tests.e2e.stories.cluster import Cluster

_IMAGE: Final = "gpuyard/kueue:test"
_PUBLISHED: Final = re.compile(r"image: \S+/kueue:main\n( +)imagePullPolicy: Always")
"""Nothing is pulled here: the nodes get the same program, built from its module."""
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
        # Its webhooks have certificates when the kubelet next looks at its volumes, which may take 90 s.
        kubectl(running.kubeconfig, "-n", "kueue-system", "rollout", "status", "deployment", "--timeout=170s")
        yield running
        # While Kueue is there, for these have finalizers of its.
        kubectl(running.kubeconfig, "delete", "localqueue,clusterqueue,resourceflavor", "--all", "-A")
    finally:
        kubectl(running.kubeconfig, "delete", "--filename=-", given=manifests)


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
