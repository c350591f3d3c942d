"""The YAML that is applied to a cluster: one object a file, and the schemas of what the components write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuyard import vocabulary
from gpuyard.groups import queues, reservations
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.wiring.manifests import COLLECTIONS
from tests.gpuyard.pods.test_memberships import CASES

ROOT = Path(__file__).parents[2] / "manifests"
FILES = sorted(ROOT.rglob("*.yaml"))


def load(name: str) -> JSON:
    document: JSON = yaml.safe_load((ROOT / name).read_text())
    return document


def version(name: str) -> JSON:
    [found] = load(name)["spec"]["versions"]
    return dict(found)


def faults(value: Any, schema: JSON, path: str = "") -> Iterator[str]:
    """What of a value a schema does not know or does not allow."""
    types: dict[str, type | tuple[type, ...]] = {"object": dict, "array": list, "string": str, "integer": int}
    if "type" in schema and not isinstance(value, types[schema["type"]]):
        yield f"{path} is no {schema['type']}"
        return
    if isinstance(value, dict):
        yield from (f"{path} lacks {name}" for name in schema.get("required", ()) if name not in value)
        for name, part in value.items():
            known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if known is not None:
                yield from faults(part, known, f"{path}.{name}")
            elif path != ".metadata":
                yield f"{path}.{name} is unknown"
    if isinstance(value, list):
        for part in value:
            yield from faults(part, schema["items"], f"{path}[]")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_holds_one_object(path: Path) -> None:
    [document] = yaml.safe_load_all(path.read_text())
    assert document["apiVersion"]
    assert document["kind"]
    assert document["metadata"]["name"]


@pytest.mark.parametrize("name", ["crds/podgroups.yaml", "crds/queues.yaml", "crds/reservations.yaml"])
def test_a_definition_is_named_after_what_it_defines(name: str) -> None:
    document = load(name)
    assert (
        document["metadata"]["name"] == f"{document['spec']['names']['plural']}.{document['spec']['group']}"
    )


def test_pod_groups_are_those_that_clients_know() -> None:
    spec = load("crds/podgroups.yaml")["spec"]
    assert f"{spec['group']}/{version('crds/podgroups.yaml')['name']}" == vocabulary.POD_GROUP_API
    assert spec["scope"] == "Namespaced"
    assert (spec["names"]["plural"], spec["names"]["shortNames"]) == ("podgroups", ["pg", "pgs"])
    found = version("crds/podgroups.yaml")
    assert found["subresources"] == {"status": {}}
    assert [column["name"] for column in found["additionalPrinterColumns"]] == [
        "Phase", "MinMember", "Running", "Succeeded", "Failed", "Age",
    ]  # fmt: skip


def test_a_pod_group_demands_nothing_and_defaults_nothing() -> None:
    """A default on a field that a client knows would make it write without end."""
    schema = version("crds/podgroups.yaml")["schema"]["openAPIV3Schema"]
    spec, status = schema["properties"]["spec"], schema["properties"]["status"]
    assert "required" not in schema
    assert "required" not in spec
    assert "default" not in str(schema)
    assert set(spec["properties"]) == {"minMember", "minResources", "scheduleTimeoutSeconds"}
    assert spec["properties"]["minMember"]["minimum"] == 1
    assert "minimum" not in spec["properties"]["scheduleTimeoutSeconds"]
    assert "enum" not in status["properties"]["phase"]
    assert set(status["properties"]) == {
        "phase", "occupiedBy", "running", "succeeded", "failed", "scheduleStartTime", "conditions",
    }  # fmt: skip


def test_a_reservation_is_what_the_domain_writes() -> None:
    schema = version("crds/reservations.yaml")["schema"]["openAPIV3Schema"]
    spec = load("crds/reservations.yaml")["spec"]
    seat = Seat("uid-a", "a", "node-1", {"main": {vocabulary.GPU: ("GPU-1", "GPU-2")}})
    written = reservations.to_object(Reservation("default", "ring", 2, 1e9, (seat,)), "uid-ring")
    assert written["apiVersion"] == f"{spec['group']}/{version('crds/reservations.yaml')['name']}"
    assert written["kind"] == spec["names"]["kind"]
    assert list(faults(written, schema)) == []
    assert list(faults({**written, "spec": {"podGroup": 3, "seat": []}}, schema)) == [
        ".spec lacks needed", ".spec lacks expires", ".spec lacks seats",
        ".spec.podGroup is no string", ".spec.seat is unknown",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"quota": {vocabulary.GPU: "8", "memory": "1Ti"}, "models": {"H100": 4}}, ""),
        ({}, ""),
        ({"quota": {vocabulary.GPU: "many"}}, "spec.quota.nvidia.com/gpu"),
        ({"quota": {vocabulary.GPU: "-1"}}, "spec.quota.nvidia.com/gpu"),
        ({"models": {"H100": -1}}, "spec.models.H100"),
        ({"models": {"H100": "8"}}, "spec.models.H100"),
    ],
)
def test_a_queue_whose_quota_cannot_be_read_is_refused_with_the_field(spec: JSON, fault: str) -> None:
    clock = Steps()
    api = DirectApi(APIServer(clock.now))
    clock.complete(api.send(Write("POST", COLLECTIONS["CustomResourceDefinition"], load("crds/queues.yaml"))))
    queue = {"apiVersion": "gpuyard.io/v1alpha1", "kind": "Queue", "metadata": {"name": "red"}, "spec": spec}
    reply = clock.complete(api.send(Write("POST", queues.PATH, queue)))
    assert reply.ok == (not fault)
    assert fault in reply.reason


class Gate:
    """An API server with the policy in force."""

    def __init__(self) -> None:
        self._clock = Steps()
        self._api = DirectApi(APIServer(self._clock.now))
        for name in ("gang-gate-policy.yaml", "gang-gate-binding.yaml"):
            document = load(name)
            plural = {"MutatingAdmissionPolicy": "mutatingadmissionpolicies"}.get(
                document["kind"], "mutatingadmissionpolicybindings"
            )
            self.create(f"/apis/{document['apiVersion']}/{plural}", document)

    def create(self, path: str, obj: JSON) -> JSON:
        reply = self._clock.complete(self._api.send(Write("POST", path, obj)))
        assert reply.ok, reply.reason
        body: JSON = reply.body
        return body

    def gates(self, namespace: str = "default", labels: JSON | None = None, **spec: Any) -> list[str]:
        """The gates of a new pod."""
        metadata = {} if labels is None else {"labels": labels}
        return self.gates_of({"metadata": metadata, "spec": spec}, namespace)

    def gates_of(self, pod: JSON, namespace: str = "default") -> list[str]:
        containers = [{"name": "main", "image": "busybox:1.36"}]
        metadata, spec = (
            {"generateName": "pod-", **pod["metadata"]},
            {"containers": containers, **pod["spec"]},
        )
        created = self.create(f"/api/v1/namespaces/{namespace}/pods", {"metadata": metadata, "spec": spec})
        return [gate["name"] for gate in created["spec"].get("schedulingGates", [])]


MEMBER = {vocabulary.POD_GROUP: "ring"}


def test_a_member_of_a_pod_group_is_gated_once_and_other_gates_stay() -> None:
    gate, other = Gate(), "kueue.x-k8s.io/topology"
    assert gate.gates(labels=MEMBER) == [vocabulary.GANG_GATE]
    assert gate.gates(labels=MEMBER, schedulingGates=[{"name": vocabulary.GANG_GATE}]) == [
        vocabulary.GANG_GATE
    ]
    assert set(gate.gates(labels=MEMBER, schedulingGates=[{"name": other}])) == {other, vocabulary.GANG_GATE}


@pytest.mark.parametrize("case", CASES)
def test_the_gate_holds_just_the_pods_that_are_members(case: str) -> None:
    """The policy's CEL and the domain's reading of a pod are two copies of one rule."""
    pod, group = CASES[case]
    assert Gate().gates_of(pod) == ([vocabulary.GANG_GATE] if group else [])


def test_nobody_else_is_gated() -> None:
    gate = Gate()
    assert gate.gates() == []
    assert gate.gates(labels={"app": "web"}) == []
    assert gate.gates(labels=MEMBER, nodeName="node-1") == []
    assert gate.gates(namespace="kube-system", labels=MEMBER) == []


@pytest.mark.parametrize(
    ("resources", "init", "allowed"),
    [
        ({"nvidia.com/gpu.shared": "1"}, {}, True),
        ({"nvidia.com/gpu": "0"}, {}, True),
        ({}, {"nvidia.com/gpu.shared": "1"}, True),
        ({"cpu": "1"}, {"cpu": "1"}, False),
        ({"nvidia.com/mig-1g.5gb": "1"}, {}, False),
    ],
)
def test_a_pod_that_limits_a_share_asks_for_one(resources: JSON, init: JSON, *, allowed: bool) -> None:
    """Whether it can have it is then for the extender to say."""
    clock = Steps()
    api = DirectApi(APIServer(clock.now))
    for name in ("share-limits-policy.yaml", "share-limits-binding.yaml"):
        assert clock.complete(api.send(Write("POST", COLLECTIONS[load(name)["kind"]], load(name)))).ok
    containers, early = (
        [{"name": name, "image": "busybox:1.36", "resources": {"limits": limits}}]
        for name, limits in (("main", resources), ("load", init))
    )
    spec = {"containers": containers, "initContainers": early}
    for annotation in (vocabulary.GPU_MILLI, vocabulary.GPU_MEMORY):
        for notes, expected in (({annotation: "1Gi"}, allowed), ({"other": "1"}, True)):
            metadata = {"generateName": "pod-", "annotations": notes}
            pod = {"metadata": metadata, "spec": spec}
            reply = clock.complete(api.send(Write("POST", "/api/v1/namespaces/default/pods", pod)))
            assert reply.ok == expected
            assert expected or annotation in reply.reason


@pytest.mark.parametrize(("before", "after"), [({}, "1"), ({vocabulary.GPU_MEMORY: "8Gi"}, "1Gi")])
def test_what_a_pod_limits_is_changed_until_it_has_a_node(before: JSON, after: str) -> None:
    clock = Steps()
    api = DirectApi(APIServer(clock.now))
    for name in ("share-limits-stay-policy.yaml", "share-limits-stay-binding.yaml"):
        assert clock.complete(api.send(Write("POST", COLLECTIONS[load(name)["kind"]], load(name)))).ok
    limits = {"limits": {"nvidia.com/gpu.shared": "1"}}
    spec = {"containers": [{"name": "main", "image": "busybox:1.36", "resources": limits}]}
    pods, annotation = "/api/v1/namespaces/default/pods", next(iter(before), vocabulary.GPU_MILLI)
    for name, node in (("waits", {}), ("bound", {"nodeName": "node-1"})):
        pod = {"metadata": {"name": name, "annotations": before}, "spec": {**spec, **node}}
        assert clock.complete(api.send(Write("POST", pods, pod))).ok
        for notes, allowed in (({annotation: after}, not node), ({annotation: None}, not (node and before))):
            body = {"metadata": {"annotations": notes}}
            reply = clock.complete(api.send(Write("PATCH", f"{pods}/{name}", body, PatchType.MERGE)))
            assert reply.ok == allowed, (name, notes, reply.reason)
            assert allowed or annotation in reply.reason
