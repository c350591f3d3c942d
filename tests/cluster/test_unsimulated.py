"""What is not simulated is said on the pods that rely on it, and on no others."""

from contextlib import closing
from typing import Any

import pytest

from gpuyard import yard
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster import unsimulated
from gpuyard_cluster.wiring.steps import StepsYard

PODS = "/api/v1/namespaces/default/pods"
PROBE = {"tcpSocket": {"port": 80}}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
APART = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}


def pod(container: dict[str, Any] | None = None, **spec: Any) -> JSON:
    main = {"name": "main", "image": "x", **(container or {})}
    return {"metadata": {"name": "p"}, "spec": {"containers": [main], **spec}}


def said(found: JSON) -> list[str]:
    known = (found.get("status") or {}).get("conditions") or []
    return [each["message"] for each in known if each["type"] == unsimulated.CONDITION]


@pytest.mark.parametrize(
    ("relying", "on"),
    [
        (pod(topologySpreadConstraints=[SPREAD]), "topologySpreadConstraints"),
        (pod(affinity={"podAntiAffinity": APART}), "affinity.podAntiAffinity"),
        (pod(resourceClaims=[{"name": "c"}]), "resourceClaims"),
        (pod(volumes=[{"name": "v", "nfs": {"server": "s"}}]), "nfs of volume v"),
        (pod({"livenessProbe": PROBE}), "livenessProbe of container main"),
        (pod({"ports": [{"containerPort": 1, "hostPort": 1}]}), "hostPort of container main"),
        (pod({"envFrom": [{"configMapRef": {"name": "c"}}]}), "envFrom of container main"),
        (
            pod({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}),
            "secretKeyRef of container main",
        ),
        (
            pod(initContainers=[{"name": "i", "image": "x", "lifecycle": {"preStop": {}}}]),
            "lifecycle of container i",
        ),
    ],
)
def test_a_pod_that_relies_on_it_says_so(relying: JSON, on: str) -> None:
    (found,) = unsimulated.conditions(relying, 0.0)
    assert found["message"] == f"the pod runs as if it had none of: {on}"


def test_a_pod_that_relies_on_nothing_of_the_kind_says_nothing() -> None:
    volumes = [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}]
    field = {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    plain = pod(
        {"env": [field, {"name": "B", "value": "b"}], "ports": [{"containerPort": 1}]}, volumes=volumes
    )
    assert unsimulated.conditions(plain, 0.0) == []


def test_it_is_said_while_the_pod_waits_and_while_it_runs() -> None:
    relying = pod(nodeSelector={"free": "yes"}, topologySpreadConstraints=[SPREAD | {"labelSelector": {}}])
    with closing(StepsYard(yard.parse({"nodes": [{"name": "n"}]}))) as running:
        seen = []
        for write in (
            Write("POST", PODS, relying),
            Write("PATCH", "/api/v1/nodes/n", {"metadata": {"labels": {"free": "yes"}}}, PatchType.MERGE),
        ):
            running.settle()
            assert running.clock.complete(running.api.send(write)).ok
            running.settle()
            found = running.clock.complete(running.api.read(f"{PODS}/p")).body
            seen.append((found["status"]["phase"], said(found)))
    message = "the pod runs as if it had none of: topologySpreadConstraints"
    assert seen == [("Pending", [message]), ("Running", [message])]
