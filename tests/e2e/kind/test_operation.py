"""How the parts are asked and guarded on a real cluster."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.connecting.extender_proxy import ExtenderProxy
from tests.e2e.kind.cluster import play
from tests.e2e.kind.hands import PARTS
from tests.e2e.stories.cluster import Cluster, faults, until

PORTS = {vocabulary.EXTENDER: 8081, vocabulary.DEVICE_PLUGIN: 8082, vocabulary.OPERATOR: 8083}
SECONDS = 3
"""A packet that is dropped is not answered at all."""


async def living(cluster: Cluster, part: str) -> list[JSON]:
    found = await cluster.api.read(PARTS, labelSelector=f"app.kubernetes.io/name={part}")
    return [pod for pod in found.body["items"] if not pod["metadata"].get("deletionTimestamp")]


async def asked(cluster: Cluster, part: str, path: str) -> list[tuple[int, str]]:
    """Status and text of each pod's answer, through the API server's proxy."""
    answers = []
    for pod in await living(cluster, part):
        reply = await cluster.api.read(f"{PARTS}/{pod['metadata']['name']}:{PORTS[part]}/proxy{path}")
        answers.append((reply.status, str(reply.body.get("message", reply.body))))
    return answers


def test_each_part_says_what_it_measures(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        await cluster.submit("one")
        pods = await cluster.running(["one"])
        assert faults(pods.values()) == []
        for part in PORTS:
            answers = await asked(cluster, part, "/metrics")
            assert {status for status, _ in answers} == {200}, part
            assert all("process_resident_memory_bytes" in text for _, text in answers), part
        extenders = "".join(text for _, text in await asked(cluster, vocabulary.EXTENDER, "/metrics"))
        assert extenders.count("gpuyard_extender_leading 1.0") == 1
        assert 'gpuyard_extender_binds_total{answer="bound"}' in extenders

    play(kubeconfig, "metrics", story)


def test_the_extender_answers_people_with_a_token_and_nobody_else(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        await cluster.submit("late", gpus=9)
        path = f"/v1/pods/{cluster.namespace}/late/explain"

        async def explained() -> bool:
            reply = await ExtenderProxy(cluster.api).ask(path)
            return reply.ok and reply.body.get("code") == "InsufficientGPUs"

        await until(explained, "who makes a token of gpuyard-reader is answered")
        assert {status for status, _ in await asked(cluster, vocabulary.EXTENDER, path)} == {401}
        for name, audience, status in (
            (vocabulary.READER, "https://kubernetes.default.svc.cluster.local", 401),
            (vocabulary.DEVICE_PLUGIN, vocabulary.EXTENDER, 403),
        ):
            token = await token_of(cluster, name, audience)
            bearing = replace(cluster, api=cluster.api.bearing({vocabulary.TOKEN_HEADER: token}))
            assert {found for found, _ in await asked(bearing, vocabulary.EXTENDER, path)} == {status}, name

    play(kubeconfig, "guarded", story)


def test_an_operator_that_lacks_a_right_names_it_and_goes_on_when_it_is_given(kubeconfig: str) -> None:
    """G53."""

    async def story(cluster: Cluster) -> None:
        async with without_rule_about(cluster, "reservations"):
            await cluster.gather("ring", 2)
            await asyncio.gather(*(cluster.submit(name, group="ring") for name in ("ring-0", "ring-1")))

            async def named() -> bool:
                [(status, text)] = await asked(cluster, vocabulary.OPERATOR, "/readyz")
                return status == 503 and "reservations" in text and "operator-cluster-role.yaml" in text

            await until(named, "the operator says what it may not do, and what helps")
            await until(lambda: told(cluster, "SelfCheckFailed"), "an event says so, too")
        await cluster.running(["ring-0", "ring-1"])

        async def well() -> bool:
            return await asked(cluster, vocabulary.OPERATOR, "/readyz") == [(200, "ok")]

        await until(well, "nothing is missing any more")
        await until(lambda: told(cluster, "SelfCheckPassed"), "an event says so, too")

    play(kubeconfig, "lacking", story)


async def told(cluster: Cluster, reason: str) -> bool:
    """Whether an event about a Lease of ours has this reason."""
    events = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/events"
    found = await cluster.items(events, fieldSelector="involvedObject.kind=Lease")
    return any(event["reason"] == reason for event in found)


@asynccontextmanager
async def without_rule_about(cluster: Cluster, resource: str) -> AsyncIterator[None]:
    """The operator may do nothing with a resource within the block."""
    path = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{vocabulary.OPERATOR}"
    rules = (await cluster.api.read(path)).body["rules"]
    fewer = [rule for rule in rules if resource not in rule.get("resources", ())]
    assert len(fewer) < len(rules)
    try:
        assert (await cluster.api.send(Write("PATCH", path, {"rules": fewer}, PatchType.MERGE))).ok
        yield
    finally:
        reply = await cluster.api.send(Write("PATCH", path, {"rules": rules}, PatchType.MERGE))
    assert reply.ok, reply.reason


async def token_of(cluster: Cluster, account: str, audience: str) -> str:
    path = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/serviceaccounts/{account}/token"
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [audience]},
    }
    return str((await cluster.api.send(Write("POST", path, body))).body["status"]["token"])


def test_where_network_policies_are_enforced_pods_reach_only_the_ports_that_are_open(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        await cluster.create(cluster.path, pod("server", "httpd -f -p 8080"))
        policies = f"/apis/networking.k8s.io/v1/namespaces/{cluster.namespace}/networkpolicies"
        closed = {"podSelector": {"matchLabels": {"name": "server"}}, "policyTypes": ["Ingress"]}
        await cluster.create(policies, {"metadata": {"name": "closed"}, "spec": closed})
        await until(lambda: runs(cluster, "server"), "the server runs")
        server = (await cluster.pods())["server"]["status"]["podIP"]
        if not (await reached(cluster, "probe", server, 8080)).startswith("silent"):
            pytest.skip("the pod network of this cluster does not enforce network policies")
        for part, port in PORTS.items():
            address = (await living(cluster, part))[0]["status"]["podIP"]
            assert await reached(cluster, f"{part}-open", address, port) == "answered"
            # A port on which nobody listens would refuse, if the packet came there.
            assert await reached(cluster, f"{part}-closed", address, 9999) == "silent"

    play(kubeconfig, "policies", story)


async def reached(cluster: Cluster, name: str, address: str, port: int) -> str:
    """What becomes of a connection from a pod: answered, refused or silent."""
    shell = (
        f"timeout {SECONDS} nc {address} {port} < /dev/null > /dev/null 2>&1; "
        "case $? in 0) echo answered;; 143|124) echo silent;; *) echo refused;; esac"
    )
    await cluster.create(cluster.path, pod(name, shell))

    async def ended() -> bool:
        return (await cluster.pods())[name]["status"].get("phase") in ("Succeeded", "Failed")

    await until(ended, f"{name} has tried")
    return (await cluster.log(name))[0]


async def runs(cluster: Cluster, name: str) -> bool:
    return bool((await cluster.pods())[name]["status"].get("phase") == "Running")


def pod(name: str, shell: str) -> JSON:
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", shell]}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"metadata": {"name": name, "labels": {"name": name}}, "spec": spec}
