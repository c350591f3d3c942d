from typing import Any

import pytest

from gpuyard_cluster.apiserver.kinds.pod_defaults import admit_pod, default_pod, default_pod_spec, qos_class


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"kind": "Pod", "spec": {"containers": list(containers), **spec}}


def test_a_request_that_is_set_stays_below_its_limit() -> None:
    body = pod({"name": "main", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}})
    default_pod(body)
    assert body["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}


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


def test_a_pod_tolerates_a_lost_node_for_five_minutes_unless_it_says_otherwise() -> None:
    own = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 1,
    }
    body = pod(tolerations=[own])
    admit_pod(body)
    first, second = body["spec"]["tolerations"]
    assert first == own
    assert (second["key"], second["tolerationSeconds"]) == ("node.kubernetes.io/unreachable", 300)
    everything = pod(tolerations=[{"operator": "Exists"}])
    admit_pod(everything)
    assert everything["spec"]["tolerations"] == [{"operator": "Exists"}]


def test_filling_in_twice_changes_nothing() -> None:
    body = pod(
        {"name": "main", "image": "a", "ports": [{"containerPort": 1}], "livenessProbe": {"exec": {}}},
        volumes=[{"name": "v"}, {"name": "s", "secret": {"secretName": "x"}}],
    )
    default_pod(body)
    once = str(body)
    default_pod(body)
    assert str(body) == once
    assert body["spec"]["volumes"] == [
        {"name": "v", "emptyDir": {}},
        {"name": "s", "secret": {"secretName": "x", "defaultMode": 420}},
    ]


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
