import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, watch

LABEL = "example.com/training"
OPERATOR = Path(__file__).with_name("trainings.py")


@pytest.fixture(scope="session")
def api(gpu_cluster: Any) -> client.CoreV1Api:
    return client.CoreV1Api(config.new_client_from_config(str(gpu_cluster.kubeconfig)))


@pytest.fixture(scope="session", autouse=True)
def operator(gpu_cluster: Any) -> Iterator[None]:
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace=default", str(OPERATOR)]
    environment = {**os.environ, "KUBECONFIG": str(gpu_cluster.kubeconfig)}
    with subprocess.Popen(command, env=environment) as process:
        yield
        process.terminate()


def ask(api: client.CoreV1Api, name: str, gpus: int) -> None:
    body = {"metadata": {"name": name, "labels": {LABEL: "yes"}}, "data": {"gpus": str(gpus)}}
    api.create_namespaced_config_map("default", body)


def pod_once(api: client.CoreV1Api, name: str, is_so: Callable[[Any], Any]) -> Any:
    """The pod of a training, as soon as something is so."""
    events = watch.Watch().stream(
        api.list_namespaced_pod, "default", label_selector=f"{LABEL}={name}", timeout_seconds=60
    )
    return next(event["object"] for event in events if is_so(event["object"]))


def test_a_training_runs_on_the_gpus_that_it_asks_for(api: client.CoreV1Api) -> None:
    ask(api, "small", gpus=4)
    pod = pod_once(api, "small", lambda pod: pod.status.phase == "Running")
    [held] = pod.status.container_statuses[0].allocated_resources_status
    assert (held.name, len(held.resources)) == ("nvidia.com/gpu", 4)


def test_a_training_that_is_too_large_waits_and_says_why(api: client.CoreV1Api) -> None:
    ask(api, "large", gpus=9)
    pod = pod_once(api, "large", lambda pod: pod.status.conditions)
    [condition] = [found for found in pod.status.conditions if found.type == "PodScheduled"]
    assert "Insufficient nvidia.com/gpu" in condition.message
