"""A shared informer of client-go follows the embedded cluster; compiled in `make e2e`, for that takes its time."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import kubernetes
import pytest
from kubernetes import client

PATIENCE = 30
SOURCE = Path(__file__).parent / "go"
BUILT = Path(__file__).parents[3] / "dist" / "clients" / "informer"
POD = {
    "metadata": {"name": "before", "labels": {"step": "0"}},
    "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}], "terminationGracePeriodSeconds": 1},
}
GROUP = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "PodGroup",
    "metadata": {"name": "g", "labels": {"step": "0"}},
    "spec": {"minMember": 2},
}
GROUPS = ("scheduling.x-k8s.io", "v1alpha1", "default", "podgroups")


@pytest.fixture(scope="module")
def program() -> Path:
    """The informer; go itself keeps what it has compiled."""
    if not os.environ.get("GPUYARD_CLIENT_GO"):
        pytest.skip("a Go program is to be compiled: set GPUYARD_CLIENT_GO=1, or make e2e")
    if not shutil.which("go"):
        pytest.skip("there is no `go` on the PATH")
    command = ["nice", "go", "build", "-o", str(BUILT), "."]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return BUILT


@pytest.fixture
def informer(program: Path, kubeconfig: Path) -> Iterator[IO[str]]:
    """What it prints; it ends with its standard input."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    with subprocess.Popen(
        [program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin
        assert running.stdout
        # Whoever waits in vain for a line then learns it by the end of the lines.
        patience = threading.Timer(PATIENCE, running.kill)
        patience.start()
        yield running.stdout
        patience.cancel()
        running.stdin.close()
        assert running.wait() == 0


@pytest.fixture(scope="module")
def core(kubeconfig: Path) -> Iterator[client.CoreV1Api]:
    with kubernetes.config.new_client_from_config(str(kubeconfig)) as connection:
        yield client.CoreV1Api(connection)


@pytest.fixture
def before(core: client.CoreV1Api) -> str:
    """The node of a pod that was bound before anybody watched."""
    core.create_namespaced_pod("default", POD)
    watch = kubernetes.watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=PATIENCE)
    return next(str(event["object"].spec.node_name) for event in watch if event["object"].spec.node_name)


def until(printed: IO[str], line: str) -> list[str]:
    """The lines up to that one; fails where the program ends before it."""
    found: list[str] = []
    for each in printed:
        found.append(each.strip())
        if found[-1] == line:
            return found
    raise AssertionError(f"not {line!r}, only {found}")


@pytest.mark.usefixtures("program")
def test_it_lists_and_then_follows_pods_and_custom_resources(
    before: str, informer: IO[str], core: client.CoreV1Api
) -> None:
    until(informer, f"SYNCED pod before {before}")
    groups = client.CustomObjectsApi(core.api_client)
    groups.create_namespaced_custom_object(*GROUPS, GROUP)
    until(informer, "ADDED podgroup g 0")
    core.patch_namespaced_pod("before", "default", {"metadata": {"labels": {"step": "1"}}})
    until(informer, "MODIFIED pod before 1")
    groups.delete_namespaced_custom_object(*GROUPS, "g")
    until(informer, "DELETED podgroup g 0")
    core.delete_namespaced_pod("before", "default")
    until(informer, "DELETED pod before 1")
