"""Uninstalling leaves nothing of ours, nothing held, and everything of others."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON, Write
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.uninstall.uninstallation import Uninstallation
from gpuyard_cluster.wiring import manifests
from gpuyard_cluster.wiring.steps import StepsYard

PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
NODE = "/api/v1/nodes/n"
YARD = {"nodes": [{"name": "n", "gpus": {"model": "Tesla-T4", "count": 2}}]}


class Cluster:
    """A cluster with GPUYard, whose parts have just been stopped: a running pod, and a gang that is held."""

    def __init__(self) -> None:
        self.yard = StepsYard(yard.parse(YARD))
        self.said: list[str] = []
        self.do("POST", PODS, pod("running"))
        group = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup", "metadata": {"name": "gang"}}
        self.do("POST", GROUPS, {**group, "spec": {"minMember": 2}})
        for name in ("gang-0", "gang-1"):
            self.do("POST", PODS, pod(name, gang=True))
        for _ in range(5):
            self.yard.pass_on()
        for part in self.yard.parts.values():
            part.end()

    def do(self, method: str, path: str, body: JSON) -> None:
        reply = self.yard.clock.complete(self.yard.api.send(Write(method, path, body)))
        assert reply.ok, reply.reason

    def get(self, path: str) -> Any:
        reply = self.yard.clock.complete(self.yard.api.read(path))
        return reply.body if reply.ok else None

    def uninstall(self, *, crds: bool = False, dry: bool = False) -> list[str]:
        self.said.clear()
        api, objects = self.yard.api, manifests.every()
        work = Uninstallation(api, self.yard.clock, objects, self.said.append, dry)
        outcome: list[InvalidInputError | None] = []

        async def story() -> None:
            try:
                await work.run(definitions=crds)
                outcome.append(None)
            except InvalidInputError as error:
                outcome.append(error)

        self.yard.clock.spawn(story(), "uninstall")
        while not outcome:
            self.yard.pass_on()
        if outcome[0] is not None:
            raise outcome[0]
        return work.failed


def pod(name: str, *, gang: bool = False) -> JSON:
    limits = {"resources": {"limits": {vocabulary.GPU: "1"}}}
    labels = {vocabulary.POD_GROUP: "gang"} if gang else {}
    spec = {"containers": [{"name": "main", "image": "busybox:1.36", **limits}]}
    return {"metadata": {"name": name, "labels": labels, "annotations": {"team": "a"}}, "spec": spec}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    found = Cluster()
    with contextlib.closing(found.yard):
        yield found


def test_nothing_stays_held_and_each_that_starts_alone_is_named(cluster: Cluster) -> None:
    assert cluster.get(f"{PODS}/gang-0")["spec"]["schedulingGates"] == [{"name": vocabulary.GANG_GATE}]
    assert cluster.uninstall() == []
    for name in ("gang-0", "gang-1"):
        assert not cluster.get(f"{PODS}/{name}")["spec"].get("schedulingGates")
        alone = "no longer held, and starts without waiting for the rest of PodGroup gang"
        assert f"pod default/{name}: {alone}" in cluster.said
    cluster.do("POST", PODS, pod("later", gang=True))
    assert not cluster.get(f"{PODS}/later")["spec"].get("schedulingGates"), "the policy is gone"


def test_nodes_and_pods_lose_what_is_ours_and_keep_the_rest(cluster: Cluster) -> None:
    running, node = f"{PODS}/running", cluster.get(NODE)["metadata"]
    assert vocabulary.ALLOCATION in cluster.get(running)["metadata"]["annotations"]
    assert node["labels"]["nvidia.com/gpu.product"] == "Tesla-T4"
    cluster.do("PUT", NODE, foreign(cluster.get(NODE)))
    cluster.uninstall()
    assert cluster.get(running)["metadata"]["annotations"] == {"team": "a"}
    node = cluster.get(NODE)["metadata"]
    assert vocabulary.INVENTORY not in node.get("annotations", {})
    assert {key for key in node["labels"] if key.startswith("nvidia.com/")} == {
        "nvidia.com/gpu.memory",
        "nvidia.com/mig.config",
    }
    assert node["labels"][vocabulary.FAKE_GPUS] == "true", "a person set it"


def foreign(node: JSON) -> JSON:
    """Somebody else has written labels beside ours, and over one of them."""
    theirs = {"nvidia.com/mig.config": "all-disabled", "nvidia.com/gpu.memory": "1"}
    node["metadata"]["labels"] |= theirs
    return node


def test_groups_go_only_with_the_definitions(cluster: Cluster) -> None:
    cluster.uninstall()
    assert cluster.get(f"{GROUPS}/gang") is not None
    cluster.uninstall(crds=True)
    cluster.yard.settle()
    assert cluster.get(f"{GROUPS}/gang") is None


def test_a_second_run_finds_nothing(cluster: Cluster) -> None:
    cluster.uninstall(crds=True)
    assert cluster.said
    assert cluster.uninstall(crds=True) == []
    assert cluster.said == []


def test_a_dry_run_says_the_same_and_does_nothing(cluster: Cluster) -> None:
    before = [cluster.get(path) for path in (PODS, NODE, GROUPS)]
    cluster.uninstall(dry=True)
    said = list(cluster.said)
    assert [cluster.get(path) for path in (PODS, NODE, GROUPS)] == before
    cluster.uninstall()
    assert sorted(cluster.said) == sorted(said)


def test_what_is_refused_is_told_and_the_rest_is_done(cluster: Cluster) -> None:
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "hands-off"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["UPDATE"],
                        "resources": ["nodes"],
                    }
                ]
            },
            "validations": [{"expression": "false", "message": "hands off"}],
        },
    }
    base = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    cluster.do("POST", f"{base}ies", policy)
    binding = {"policyName": "hands-off", "validationActions": ["Deny"]}
    cluster.do("POST", f"{base}ybindings", {"metadata": {"name": "hands-off"}, "spec": binding})
    [problem] = cluster.uninstall()
    assert problem.startswith("node n: without gpuyard.io/inventory")
    assert "hands off" in problem
    assert not cluster.get(f"{PODS}/gang-0")["spec"].get("schedulingGates")


def test_parts_that_do_not_end_are_waited_for_and_then_named(cluster: Cluster) -> None:
    cluster.do("POST", "/api/v1/namespaces", {"metadata": {"name": vocabulary.NAMESPACE}})
    stuck = pod("stuck")
    stuck["metadata"]["labels"] = {"app.kubernetes.io/part-of": "gpuyard"}
    cluster.do("POST", f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods", stuck)
    with pytest.raises(InvalidInputError, match="parts still run after 60 s.*run this again"):
        cluster.uninstall()
