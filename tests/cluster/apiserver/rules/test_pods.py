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


def test_a_nominated_node_has_the_name_of_a_node() -> None:
    faults = pods.status_faults({"nominatedNodeName": "Node 1"})
    assert [cause.field for cause in faults] == ["status.nominatedNodeName"]
