"""Which pods of a group lead it, by the labels that operators write."""

import pytest

from gpuyard import vocabulary
from gpuyard.groups import leaders
from gpuyard.groups.leaders import Leaders, Start
from gpuyard.writes import JSON

MPI, V1 = "training.kubeflow.org/operator-name", "training.kubeflow.org/replica-type"


def pod(name: str, labels: dict[str, str], gpus: int = 1) -> JSON:
    limits = {"limits": {vocabulary.GPU: str(gpus)}}
    return {
        "metadata": {"name": name, "uid": name, "labels": labels},
        "spec": {"containers": [{"name": "main", "resources": limits}]},
    }


def kubeflow(name: str, role: str, operator: str, gpus: int = 1) -> JSON:
    key = "training.kubeflow.org/job-role" if operator == "mpi-operator" else V1
    return pod(name, {MPI: operator, key: role}, gpus)


@pytest.mark.parametrize("operator", ["mpi-operator", "mpijob-controller"])
def test_the_launcher_of_an_mpi_job_leads_it(operator: str) -> None:
    pods = [kubeflow("l", "launcher", operator, gpus=0), kubeflow("w", "worker", operator)]
    found = leaders.find(pods, 2)
    assert (found, found.apart) == (Leaders(Start.LATE, frozenset("l")), frozenset())


def test_no_worker_or_master_of_another_job_leads_it() -> None:
    pods = [kubeflow(role, role, "pytorchjob-controller") for role in ("master", "worker")]
    assert leaders.find(pods, 2) == Leaders()


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize(("needed", "led"), [(2, {"d"}), (1, set())])
def test_a_driver_leads_unless_each_starts_alone(gpus: int, needed: int, led: set[str]) -> None:
    pods = [pod("d", {"spark-role": "driver"}, gpus), pod("e", {"spark-role": "executor"})]
    assert leaders.find(pods, needed).apart == led


def test_the_pod_among_ray_nodes_that_is_none_leads_them() -> None:
    pods = [pod("h", {"ray.io/node-type": "head"}, 0), pod("s", {"app": "submit"}, 0)]
    found = leaders.find(pods, 2)
    assert (found, found.apart) == (Leaders(Start.AFTER, frozenset("s")), frozenset("s"))


def test_pods_without_sense_lead_nobody() -> None:
    assert leaders.find([{}, {"metadata": None}, {"metadata": {"labels": ["a"]}}], 2) == Leaders()
