"""Operators of the ecosystem bring their CRDs, and what they write for their users runs as gangs.

The pods name no scheduler, as where the operators' options say nothing else.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import pytest
from kubernetes import client

from gpuyard.writes import JSON
from tests.e2e.clients.operators import OPERATORS, Operator

PATIENCE = 30
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
GROUPS = ("scheduling.x-k8s.io", "v1alpha1")
LABEL = "scheduling.x-k8s.io/pod-group"


@pytest.fixture(scope="module")
def connection(kubeconfig: Path) -> Iterator[Any]:
    with kubernetes.config.new_client_from_config(str(kubeconfig)) as found:
        yield found


@pytest.fixture(params=OPERATORS, ids=lambda operator: operator.name)
def operator(request: pytest.FixtureRequest, connection: Any) -> Iterator[Operator]:
    """One whose CRD is there, and a namespace of its name."""
    found: Operator = request.param
    name = found.definition["metadata"]["name"]
    client.ApiextensionsV1Api(connection).create_custom_resource_definition(found.definition)
    client.CoreV1Api(connection).create_namespace({"metadata": {"name": found.name}})
    yield found
    client.CoreV1Api(connection).delete_namespace(found.name)
    client.ApiextensionsV1Api(connection).delete_custom_resource_definition(name)


def place(operator: Operator, version: int = 0) -> tuple[str, str, str, str]:
    """Group, version, namespace and plural of the operator's kind."""
    spec = operator.definition["spec"]
    return spec["group"], spec["versions"][version]["name"], operator.name, spec["names"]["plural"]


def job(operator: Operator) -> JSON:
    group, version, *_ = place(operator)
    kind = operator.definition["spec"]["names"]["kind"]
    return {
        "apiVersion": f"{group}/{version}",
        "kind": kind,
        "metadata": {"name": "train"},
        "spec": operator.job,
    }


def put(objects: Any, where: tuple[str, ...], spec: JSON) -> Any:
    """What the typed client of an operator sends: the spec it wants, on what it read, which may be old by then."""
    for _ in range(PATIENCE):
        found = objects.get_namespaced_custom_object(*where, "train")
        try:
            return objects.replace_namespaced_custom_object(*where, "train", {**found, "spec": spec})
        except kubernetes.client.exceptions.ConflictException:
            continue
    raise AssertionError("the object is written without end")


def holds(found: Any, expected: Any) -> bool:
    """Whether everything expected is there, at its place."""
    if isinstance(expected, dict):
        return all(key in found and holds(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(holds, found, expected))
    return bool(found == expected)


def test_its_objects_keep_what_their_users_wrote_and_get_their_defaults(
    operator: Operator, connection: Any
) -> None:
    objects = client.CustomObjectsApi(connection)
    made = objects.create_namespaced_custom_object(*place(operator), job(operator))
    assert holds(made["spec"], operator.job)
    assert holds(made["spec"], operator.defaulted)
    status = {"conditions": [{"type": "Created"}, {"type": "Running"}]}
    objects.patch_namespaced_custom_object_status(*place(operator), "train", {"status": status})
    answer = objects.list_namespaced_custom_object(
        *place(operator, -1), _headers={"Accept": TABLE}, _preload_content=False
    )
    table = json.loads(answer.data)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "State", "Age"]
    assert table["rows"][0]["cells"][:2] == ["train", "Running"]


def test_what_its_schema_forbids_is_refused_by_field(operator: Operator, connection: Any) -> None:
    body = {**job(operator), "spec": []}
    with pytest.raises(client.ApiException) as refusal:
        client.CustomObjectsApi(connection).create_namespaced_custom_object(*place(operator), body)
    assert refusal.value.status == 422
    assert "spec" in refusal.value.body


def owner(operator: Operator, made: JSON) -> JSON:
    reference = {"apiVersion": made["apiVersion"], "kind": made["kind"], "name": "train"}
    reference["uid"] = made["metadata"]["uid"]
    return {**reference, "controller": True, "blockOwnerDeletion": True} if operator.controller else reference


def group(operator: Operator, made: JSON) -> JSON:
    metadata = {"name": "train", "ownerReferences": [owner(operator, made)], **operator.group_metadata}
    return {
        "apiVersion": "/".join(GROUPS),
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": operator.group_spec,
    }


def member(operator: Operator, made: JSON, number: int) -> JSON:
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    metadata = {"name": f"train-{number}", "labels": {LABEL: "train"}}
    metadata["ownerReferences"] = [owner(operator, made)]
    return {"metadata": metadata, "spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}


def until_running(connection: Any, operator: Operator, names: set[str]) -> None:
    pods = client.CoreV1Api(connection).list_namespaced_pod
    running = set[str]()
    for event in kubernetes.watch.Watch().stream(pods, operator.name, timeout_seconds=PATIENCE):
        if event["object"].status.phase == "Running":
            running.add(event["object"].metadata.name)
        if running == names:
            return
    raise AssertionError(f"only {running} run")


def test_its_pod_groups_become_gangs_that_run_and_go_with_their_job(
    operator: Operator, connection: Any
) -> None:
    objects, core = client.CustomObjectsApi(connection), client.CoreV1Api(connection)
    made = objects.create_namespaced_custom_object(*place(operator), job(operator))
    written = group(operator, made)
    where = (*GROUPS, operator.name, "podgroups")
    objects.create_namespaced_custom_object(*where, written)
    core.create_namespaced_pod(operator.name, member(operator, made, 0))
    alone = core.read_namespaced_pod("train-0", operator.name)
    assert [gate.name for gate in alone.spec.scheduling_gates] == ["gpuyard.io/gang"]
    core.create_namespaced_pod(operator.name, member(operator, made, 1))
    until_running(connection, operator, {"train-0", "train-1"})
    # mpi-operator compares, and writes anew whatever differs: a spec that somebody completes is a fight without end.
    found = objects.get_namespaced_custom_object(*where, "train")
    assert found["spec"] == written["spec"]
    replaced = put(objects, where, written["spec"])
    assert replaced["spec"] == written["spec"]
    version = replaced["metadata"]["resourceVersion"]
    objects.delete_namespaced_custom_object(*place(operator), "train")
    stream = kubernetes.watch.Watch().stream(
        objects.list_namespaced_custom_object, *where, resource_version=version, timeout_seconds=PATIENCE
    )
    assert any(event["type"] == "DELETED" for event in stream)
