"""Programs of others as they are published: their manifests applied whole, their binaries unmodified.

What a Deployment's node would do for the program is done here: it runs beside the cluster, gets the Secret that would
be mounted, and is found behind its Service.
"""

import asyncio
import base64
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gpuyard.writes import JSON, Write
from gpuyard_cli.backends import kind as kind_backend
from gpuyard_kube.http import HttpApi
from tests.e2e.stories.cluster import until

SECONDS = 180
"""For kubectl, on a machine that is busy."""
_LAST_LINES = 150
_ELSEWHERE = re.compile(r"^kind: (APIService|Deployment)$", re.MULTILINE)


@dataclass(frozen=True)
class Webhooks:
    """What the program needs to serve webhooks, as its manifests name it; it makes the certificate itself."""

    namespace: str
    service: str
    secret: str
    folder: Path
    """Where it looks for what is mounted."""
    address: str = "127.0.0.1"
    """Where the cluster reaches it."""
    port: int = 9443


@dataclass(frozen=True)
class Operator:
    """One that kind/operators.sh has built, and how it is run."""

    name: str
    manifests: str
    """The kustomization that its authors publish for a whole installation, within its source."""
    flags: tuple[str, ...]
    webhooks: Webhooks | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Running:
    """An operator that runs against the cluster of a kubeconfig."""

    kubeconfig: Path
    source: Path
    log: Path

    def sample(self, path: str) -> JSON:
        """An object that its authors publish."""
        found: JSON = yaml.safe_load((self.source / path).read_text())
        return found

    def told(self) -> str:
        """What it said last, for a test that waited in vain."""
        return "\n".join(self.log.read_text().splitlines()[-_LAST_LINES:])


@contextmanager
def started(operator: Operator, folder: Path, kubeconfig: Path, log: Path) -> Iterator[Running]:
    """Installed and started; its webhooks are served."""
    running = Running(kubeconfig, folder / operator.name / "source", log)
    install(kubeconfig, running.source / operator.manifests)
    command = [str(folder / operator.name / "program"), *operator.flags]
    environment = {**os.environ, **operator.environment, "KUBECONFIG": str(kubeconfig)}
    with (
        log.open("w") as said,
        subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT) as process,
    ):
        try:
            if operator.webhooks is not None:
                asyncio.run(_serve(running, operator.webhooks))
            yield running
        finally:
            process.kill()


def install(kubeconfig: Path, folder: Path) -> None:
    """All of a published kustomization but what runs beside the cluster, and what the embedded one does not serve."""
    # Server-side: the schemas are too large for the annotation that remembers what was applied.
    kubectl(kubeconfig, "apply", "--server-side", "--filename=-", given=published(kubeconfig, folder))
    # Some programs end at once where their kinds are not served yet.
    kubectl(kubeconfig, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def published(kubeconfig: Path, folder: Path) -> str:
    # As text: to parse such schemas takes half a minute.
    objects = kubectl(kubeconfig, "kustomize", str(folder)).split("\n---\n")
    return "\n---\n".join(found for found in objects if not _ELSEWHERE.search(found))


def kubectl(kubeconfig: Path, *words: str, given: str = "") -> str:
    command = ["kubectl", "--kubeconfig", str(kubeconfig), *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def _serve(running: Running, webhooks: Webhooks) -> None:
    async with kind_backend.connected(str(running.kubeconfig)) as api:
        await _point(api, webhooks)
        await _mount(api, webhooks, running)

    async def is_served() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", webhooks.port)
        except OSError:
            return False
        writer.close()
        return True

    await until(is_served, lambda: f"it serves its webhooks\n{running.told()}")


async def _point(api: HttpApi, webhooks: Webhooks) -> None:
    """The Service selects pods, of which nobody here makes endpoints: these lead to the program."""
    namespace, service = webhooks.namespace, webhooks.service
    found = await api.read(f"/api/v1/namespaces/{namespace}/services/{service}")
    ports: list[JSON] = [port for port in found.body["spec"]["ports"] if port["port"] == 443]
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": service, "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4",
        "ports": [{"name": ports[0].get("name", ""), "port": webhooks.port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [webhooks.address]}],
    }
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    reply = await api.send(Write("POST", path, endpoints))
    assert reply.ok, reply.reason


async def _mount(api: HttpApi, webhooks: Webhooks, running: Running) -> None:
    """As a kubelet mounts a Secret, once the program has filled it."""
    path = f"/api/v1/namespaces/{webhooks.namespace}/secrets/{webhooks.secret}"
    data: dict[str, Any] = {}

    async def is_filled() -> bool:
        data.update((await api.read(path)).body.get("data") or {})
        return "tls.crt" in data

    await until(is_filled, lambda: f"it makes its certificate\n{running.told()}")
    webhooks.folder.mkdir(parents=True, exist_ok=True)
    for name, content in data.items():
        (webhooks.folder / name).write_bytes(base64.b64decode(content))
