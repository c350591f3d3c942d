from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules import pods

CONTAINERS = [{"name": "main", "image": "app:1"}]


@pytest.mark.parametrize(
    ("spec", "field", "reason"),
    [
        ({"restartPolicy": "Sometimes"}, "spec.restartPolicy", "FieldValueNotSupported"),
        ({"nodeName": "n", "schedulingGates": [{"name": "a"}]}, "spec.nodeName", "FieldValueForbidden"),
        ({"nodeName": "N!"}, "spec.nodeName", "FieldValueInvalid"),
        ({"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds", "FieldValueInvalid"),
    ],
)
def test_an_invalid_pod_is_told_by_field(spec: dict[str, Any], field: str, reason: str) -> None:
    pod = {"spec": {"containers": CONTAINERS, **spec}}
    assert (field, reason) in {(cause.field, cause.reason) for cause in pods.create_faults(pod)}


def test_a_plain_pod_passes() -> None:
    assert not list(pods.create_faults({"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}))


def test_a_condition_has_a_type_and_a_status() -> None:
    status = {"nominatedNodeName": "Node 1", "conditions": [{"type": "Ready"}]}
    assert {cause.field for cause in pods.status_faults(status)} == {
        "status.nominatedNodeName",
        "status.conditions[0].status",
    }
