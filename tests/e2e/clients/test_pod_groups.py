"""PodGroups as operators of the ecosystem write them become gangs, stay as they are written, and go with their job.

What the operators' own kinds need of an API server is in tests/e2e/conformance, and the operators themselves are in
tests/e2e/operators: here is what each writes, also those that are not built there. The pods name no scheduler.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import pytest
from kubernetes import client

from gpuyard.writes import JSON

PATIENCE = 30
GROUPS = ("scheduling.x-k8s.io", "v1alpha1")
LABEL = "scheduling.x-k8s.io/pod-group"
RESOURCES = {"nvidia.com/gpu": "2"}
WRITTEN: dict[str, JSON] = {
    # It copies all annotations of the job, this one too.
    "training-operator": {
        "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
        "spec": {"minMember": 2, "minResources": {"cpu": "2", **RESOURCES}},
    },
    "mpi-operator": {"spec": {"minMember": 2, "minResources": RESOURCES, "scheduleTimeoutSeconds": 0}},
    "trainer": {"spec": {"minMember": 2, "scheduleTimeoutSeconds": 60}},
    "kuberay": {"spec": {"minMember": 2, "minResources": RESOURCES}},
}
NO_CONTROLLERS = {"kuberay"}


@pytest.fixture(scope="module")
def connection(kubeconfig: Path) -> Iterator[Any]:
    with kubernetes.config.new_client_from_config(str(kubeconfig)) as found:
        yield found


@pytest.fixture(params=WRITTEN)
def operator(request: pytest.FixtureRequest, connection: Any) -> Iterator[str]:
    """The name of one, and of a namespace."""
    found: str = request.param
    client.CoreV1Api(connection).create_namespace({"metadata": {"name": found}})
    yield found
    client.CoreV1Api(connection).delete_namespace(found)


def job(core: Any, operator: str) -> JSON:
    """A reference to what owns all the rest; any kind will do."""
    made = core.create_namespaced_config_map(operator, {"metadata": {"name": "train"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "train", "uid": made.metadata.uid}
    controls = operator not in NO_CONTROLLERS
    return {**reference, "controller": True, "blockOwnerDeletion": True} if controls else reference


def member(owner: JSON, number: int) -> JSON:
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    metadata = {"name": f"train-{number}", "labels": {LABEL: "train"}, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}


def put(objects: Any, where: tuple[str, ...], spec: JSON) -> Any:
    """What the typed client of an operator sends: the spec it wants, on what it read, which may be old by then."""
    for _ in range(PATIENCE):
        found = objects.get_namespaced_custom_object(*where, "train")
        try:
            return objects.replace_namespaced_custom_object(*where, "train", {**found, "spec": spec})
        except kubernetes.client.exceptions.ConflictException:
            continue
    raise AssertionError("the object is written without end")


def until_running(core: Any, namespace: str, names: set[str]) -> None:
    running = set[str]()
    stream = kubernetes.watch.Watch().stream(core.list_namespaced_pod, namespace, timeout_seconds=PATIENCE)
    for event in stream:
        if event["object"].status.phase == "Running":
            running.add(event["object"].metadata.name)
        if running == names:
            return
    raise AssertionError(f"only {running} run")


def test_its_pod_groups_become_gangs_that_run_and_go_with_their_job(operator: str, connection: Any) -> None:
    objects, core = client.CustomObjectsApi(connection), client.CoreV1Api(connection)
    owner, written, where = job(core, operator), WRITTEN[operator], (*GROUPS, operator, "podgroups")
    metadata = {"name": "train", "ownerReferences": [owner], **written.get("metadata", {})}
    head = {"apiVersion": "/".join(GROUPS), "kind": "PodGroup", "metadata": metadata}
    objects.create_namespaced_custom_object(*where, {**head, "spec": written["spec"]})
    core.create_namespaced_pod(operator, member(owner, 0))
    alone = core.read_namespaced_pod("train-0", operator)
    assert [gate.name for gate in alone.spec.scheduling_gates] == ["gpuyard.io/gang"]
    core.create_namespaced_pod(operator, member(owner, 1))
    until_running(core, operator, {"train-0", "train-1"})
    # mpi-operator compares, and writes anew whatever differs: a spec that somebody completes is a fight without end.
    assert objects.get_namespaced_custom_object(*where, "train")["spec"] == written["spec"]
    replaced = put(objects, where, written["spec"])
    assert replaced["spec"] == written["spec"]
    core.delete_namespaced_config_map("train", operator)
    version = replaced["metadata"]["resourceVersion"]
    stream = kubernetes.watch.Watch().stream(
        objects.list_namespaced_custom_object, *where, resource_version=version, timeout_seconds=PATIENCE
    )
    assert any(event["type"] == "DELETED" for event in stream)
