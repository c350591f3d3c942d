"""kube-scheduler and operator ask the extender over TLS, and nobody without a certificate gets an answer."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.writes import Write
from tests.e2e.kind.cluster import empty
from tests.e2e.kind.hands import PARTS
from tests.e2e.kind.test_takeover import free_port, holder, laptop
from tests.e2e.stories.cluster import Cluster, faults, until

ROOT = Path(__file__).parents[3]
MANIFESTS = ROOT / "manifests"
SCHEDULER = "gpuyard-scheduler"
IN_ITS_NODES_NETWORK = """
# As kube-scheduler is in a control plane. A pod network that does not masquerade has no way back from this machine.
apiVersion: apps/v1
kind: Deployment
metadata: {name: gpuyard-scheduler, namespace: gpuyard-system}
spec: {template: {spec: {hostNetwork: true, nodeSelector: {gpuyard.io/yard-node: node-1}}}}
"""
GROUPS = f"/apis/{vocabulary.POD_GROUP_API}/namespaces"


class Kubectl:
    """kubectl in the namespace of GPUYard's parts."""

    def __init__(self, kubeconfig: str) -> None:
        self._command = ["kubectl", "--kubeconfig", kubeconfig, "--namespace", vocabulary.NAMESPACE]

    def __call__(self, *arguments: str) -> None:
        ended = subprocess.run([*self._command, *arguments], capture_output=True, text=True, timeout=330)
        assert ended.returncode == 0, ended.stderr

    def secret(self, name: str, folder: Path, whose: str) -> None:
        files = {"tls.crt": f"{whose}.crt", "tls.key": f"{whose}.key", "ca.crt": "ca.crt"}
        self(
            "create", "secret", "generic", name, *(f"--from-file={k}={folder / v}" for k, v in files.items())
        )

    def rolled_out(self, *deployments: str) -> None:
        for name in deployments:
            self("rollout", "status", f"deployment/{name}", "--timeout=300s")


@pytest.fixture(scope="module")
def certificates(kubeconfig: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cluster with the component and a second scheduler, as the component's README says; the certificates."""
    folder, overlay = tmp_path_factory.mktemp("certificates"), tmp_path_factory.mktemp("overlay")
    subprocess.run([MANIFESTS / "components/mtls/certificates.sh", folder], check=True, timeout=60)
    base = os.path.relpath(MANIFESTS, overlay.resolve())
    (overlay / "kustomization.yaml").write_text(
        f"resources: [{base}, {base}/components/second-scheduler]\ncomponents: [{base}/components/mtls]\n"
        "patches: [{path: scheduler.yaml}]\n"
    )
    (overlay / "scheduler.yaml").write_text(IN_ITS_NODES_NETWORK)
    kubectl = Kubectl(kubeconfig)
    kubectl.secret("gpuyard-extender-tls", folder, "extender")
    kubectl.secret("gpuyard-scheduler-tls", folder, "scheduler")
    try:
        kubectl("apply", "--kustomize", str(overlay))
        kubectl.rolled_out(vocabulary.EXTENDER, vocabulary.OPERATOR, SCHEDULER)
        yield folder
    finally:
        kubectl("delete", "--kustomize", str(MANIFESTS / "components/second-scheduler"))
        kubectl("apply", "--kustomize", str(MANIFESTS))
        kubectl.rolled_out(vocabulary.EXTENDER, vocabulary.OPERATOR)
        kubectl("delete", "secret", "gpuyard-extender-tls", "gpuyard-scheduler-tls")


def test_pods_and_gangs_are_placed_over_tls(kubeconfig: str, certificates: Path) -> None:
    async def story() -> None:
        async with empty(kubeconfig, "mtls") as cluster:
            await cluster.submit("one", gpus=2, schedulerName=SCHEDULER)
            group = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup", "spec": {"minMember": 2}}
            await cluster.create(f"{GROUPS}/mtls/podgroups", {**group, "metadata": {"name": "ring"}})
            for name in ("ring-0", "ring-1"):
                await cluster.submit(name, group="ring", schedulerName=SCHEDULER)
            pods = await cluster.running(["one", "ring-0", "ring-1"])
            assert faults(pods.values()) == []
            assert set(await verbs_without_a_certificate(cluster)) == {403}

    asyncio.run(story())


async def verbs_without_a_certificate(cluster: Cluster) -> list[int]:
    """What the extenders answer to one who has none: the API server's proxy."""
    found = await cluster.api.read(PARTS, labelSelector=f"app.kubernetes.io/name={vocabulary.EXTENDER}")
    names = [
        pod["metadata"]["name"] for pod in found.body["items"] if not pod["metadata"].get("deletionTimestamp")
    ]
    paths = [f"{PARTS}/https:{name}:8081/proxy/{verb}" for name in names for verb in ("filter", "bind")]
    return [(await cluster.api.send(Write("POST", path, {}))).status for path in paths]


def test_kube_scheduler_follows_to_a_laptop_and_back_over_tls(kubeconfig: str, certificates: Path) -> None:
    """The active extender sends it on to an address that no certificate names: tlsConfig.serverName holds there."""
    host = os.environ.get("GPUYARD_E2E_HOST")
    if host is None:
        pytest.skip("the nodes of this cluster cannot reach this machine")
    tls = {"--tls-cert": "extender.crt", "--tls-key": "extender.key", "--client-ca": "ca.crt"}
    options = [text for flag, name in tls.items() for text in (flag, str(certificates / name))]

    async def story() -> None:
        async with empty(kubeconfig, "mtls-laptop") as cluster:
            port = free_port()
            await cluster.submit("before", schedulerName=SCHEDULER)
            await cluster.running(["before"])
            async with laptop(kubeconfig, host, port, *options) as process:

                async def taken_over() -> bool:
                    return f"@{host}:{port}" in await holder(cluster)

                await until(taken_over, "the laptop holds the Lease")
                await cluster.submit("meanwhile", schedulerName=SCHEDULER)
                await cluster.running(["meanwhile"])
                process.send_signal(signal.SIGINT)
                _, said = await asyncio.wait_for(process.communicate(), 20)
            assert "Bind meanwhile" in said.decode()
            await cluster.submit("after", schedulerName=SCHEDULER)
            pods = await cluster.running(["before", "meanwhile", "after"])
            assert faults(pods.values()) == []

    asyncio.run(story())
