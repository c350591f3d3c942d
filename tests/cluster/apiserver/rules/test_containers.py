from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.containers import container_faults, volume_faults

MAIN = {"name": "main", "image": "app:1"}


@pytest.mark.parametrize(
    ("spec", "field", "reason"),
    [
        ({}, "spec.containers", "FieldValueRequired"),
        ({"containers": [MAIN, MAIN]}, "spec.containers[1].name", "FieldValueDuplicate"),
        (
            {"containers": [MAIN], "initContainers": [MAIN]},
            "spec.initContainers[0].name",
            "FieldValueDuplicate",
        ),
        ({"containers": [{"image": "a"}]}, "spec.containers[0].name", "FieldValueRequired"),
        ({"containers": [{"name": "A", "image": "a"}]}, "spec.containers[0].name", "FieldValueInvalid"),
        ({"containers": [{"name": "main"}]}, "spec.containers[0].image", "FieldValueRequired"),
        ({"containers": [MAIN | {"image": " a"}]}, "spec.containers[0].image", "FieldValueInvalid"),
        (
            {"containers": [MAIN | {"imagePullPolicy": "Now"}]},
            "spec.containers[0].imagePullPolicy",
            "FieldValueNotSupported",
        ),
        ({"containers": [MAIN | {"env": [{}]}]}, "spec.containers[0].env[0].name", "FieldValueRequired"),
        (
            {"containers": [MAIN | {"ports": [{"containerPort": 70000}]}]},
            "spec.containers[0].ports[0].containerPort",
            "FieldValueInvalid",
        ),
        (
            {"containers": [MAIN | {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
            "spec.containers[0].volumeMounts[0].name",
            "FieldValueNotFound",
        ),
        (
            {"containers": [MAIN | {"resources": {"limits": {"x.y/z": "0.5"}}}]},
            "spec.containers[0].resources.limits[x.y/z]",
            "FieldValueInvalid",
        ),
    ],
)
def test_a_bad_container_is_told_by_field(spec: dict[str, Any], field: str, reason: str) -> None:
    assert (field, reason) in {(cause.field, cause.reason) for cause in container_faults(spec, "spec")}


def test_a_mount_of_a_volume_that_is_there_passes() -> None:
    mounted = MAIN | {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    assert not list(container_faults({"containers": [mounted], "volumes": [{"name": "v"}]}, "spec"))


def test_a_volume_has_one_source_and_a_name_of_its_own() -> None:
    volumes = [{"name": "v", "emptyDir": {}, "hostPath": {}}, {"name": "v"}]
    found = {(cause.field, cause.reason) for cause in volume_faults({"volumes": volumes}, "spec")}
    assert found == {
        ("spec.volumes[0]", "FieldValueForbidden"),
        ("spec.volumes[1].name", "FieldValueDuplicate"),
    }
