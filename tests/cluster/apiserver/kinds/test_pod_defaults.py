from typing import Any

import pytest

from gpuyard_cluster.apiserver.kinds.pod_defaults import default_pod_spec, qos_class


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"kind": "Pod", "spec": {"containers": list(containers), **spec}}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("app", "Always"),
        ("app:latest", "Always"),
        ("app:1", "IfNotPresent"),
        ("registry:5000/app", "Always"),
        ("registry:5000/app:1", "IfNotPresent"),
        ("app@sha256:0", "IfNotPresent"),
    ],
)
def test_untagged_images_are_always_pulled(image: str, policy: str) -> None:
    spec = {"containers": [{"name": "main", "image": image}]}
    default_pod_spec(spec)
    assert spec["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}, "Burstable"),
    ],
)
def test_quality_of_service_follows_cpu_and_memory(resources: dict[str, Any], expected: str) -> None:
    assert qos_class({"containers": [{"resources": resources}]}) == expected
