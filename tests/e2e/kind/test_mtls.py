"""kube-scheduler and operator ask the extender over TLS, and nobody without a certificate gets an answer."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.writes import Write
from tests.e2e.kind.cluster import play
from tests.e2e.kind.hands import PARTS
from tests.e2e.kind.test_operation import living
from tests.e2e.kind.test_takeover import reachable, there_and_back
from tests.e2e.operators.programs import kubectl
from tests.e2e.stories.cluster import Cluster

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


def ours(kubeconfig: str, *words: str) -> None:
    """kubectl in the namespace of GPUYard's parts."""
    kubectl(Path(kubeconfig), "--namespace", vocabulary.NAMESPACE, *words)


def secret(kubeconfig: str, name: str, folder: Path, whose: str) -> None:
    files = {"tls.crt": f"{whose}.crt", "tls.key": f"{whose}.key", "ca.crt": "ca.crt"}
    contents = (f"--from-file={key}={folder / file}" for key, file in files.items())
    ours(kubeconfig, "create", "secret", "generic", name, *contents)


def rolled_out(kubeconfig: str, *deployments: str) -> None:
    for name in deployments:
        ours(kubeconfig, "rollout", "status", f"deployment/{name}", "--timeout=170s")


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
    secret(kubeconfig, "gpuyard-extender-tls", folder, "extender")
    secret(kubeconfig, "gpuyard-scheduler-tls", folder, "scheduler")
    try:
        ours(kubeconfig, "apply", "--kustomize", str(overlay))
        rolled_out(kubeconfig, vocabulary.EXTENDER, vocabulary.OPERATOR, SCHEDULER)
        yield folder
    finally:
        ours(kubeconfig, "delete", "--kustomize", str(MANIFESTS / "components/second-scheduler"))
        ours(kubeconfig, "apply", "--kustomize", str(MANIFESTS))
        rolled_out(kubeconfig, vocabulary.EXTENDER, vocabulary.OPERATOR)
        ours(kubeconfig, "delete", "secret", "gpuyard-extender-tls", "gpuyard-scheduler-tls")


def test_pods_and_gangs_are_placed_over_tls(kubeconfig: str, certificates: Path) -> None:
    async def story(cluster: Cluster) -> None:
        await cluster.submit("one", gpus=2, schedulerName=SCHEDULER)
        await cluster.gather("ring", 2)
        for name in ("ring-0", "ring-1"):
            await cluster.submit(name, group="ring", schedulerName=SCHEDULER)
        await cluster.running(["one", "ring-0", "ring-1"])
        await cluster.sound()
        assert set(await verbs_without_a_certificate(cluster)) == {403}

    play(kubeconfig, "mtls", story)


async def verbs_without_a_certificate(cluster: Cluster) -> list[int]:
    """What the extenders answer to one who has none: the API server's proxy."""
    names = [pod["metadata"]["name"] for pod in await living(cluster, vocabulary.EXTENDER)]
    paths = [f"{PARTS}/https:{name}:8081/proxy/{verb}" for name in names for verb in ("filter", "bind")]
    return [(await cluster.api.send(Write("POST", path, {}))).status for path in paths]


def test_kube_scheduler_follows_to_a_laptop_and_back_over_tls(kubeconfig: str, certificates: Path) -> None:
    """The active extender sends it on to an address that no certificate names: tlsConfig.serverName holds there."""
    host = reachable()
    tls = {"--tls-cert": "extender.crt", "--tls-key": "extender.key", "--client-ca": "ca.crt"}
    options = [text for flag, name in tls.items() for text in (flag, str(certificates / name))]

    async def story(cluster: Cluster) -> None:
        await there_and_back(cluster, kubeconfig, host, *options, schedulerName=SCHEDULER)

    play(kubeconfig, "mtls-laptop", story)
