"""The checks that the embedded API server is held to, on a real one: what they say is still so.

They take resourceVersion 1 as expired. kube-apiserver has etcd forget what is older than 5 minutes; a cluster that
young is told to.
"""

import asyncio
from collections.abc import Sequence

import pytest

from gpuyard_cli.backends import kind as kind_backend
from tests.e2e.conformance import probe
from tests.e2e.kind.commands import inside
from tests.e2e.kind.hands import KindHands
from tests.e2e.kind.test_takeover import reachable

PKI = "/etc/kubernetes/pki/etcd"
ETCD = "https://127.0.0.1:2379"
"""Where etcd listens on the node that it runs on: also JSON, whatever its image holds beside it."""
CALLED = "webhooks"
"""The area whose checks are called by the server."""
BEHIND = "watch: without or with zero resourceVersion starts with ADDED for what exists"
"""It deletes an object, and asks at once for a watch at resourceVersion 0. A real server may serve that from a cache
that has not heard of the deletion yet, which is what resourceVersion 0 allows."""


@pytest.fixture(autouse=True)
def audited() -> None:
    """Nothing to audit: the checks touch nothing of GPUYard's."""


async def _forget(kubeconfig: str) -> None:
    """Make etcd forget all revisions before the one that is now."""
    async with kind_backend.connected(kubeconfig) as api:
        listed = await api.read("/api/v1/namespaces")
        [node] = await KindHands(api, kubeconfig).control_plane()
    revision = str(listed.body["metadata"]["resourceVersion"])
    files = {"cacert": "ca.crt", "cert": "healthcheck-client.crt", "key": "healthcheck-client.key"}
    known = [part for option, file in files.items() for part in (f"--{option}", f"{PKI}/{file}")]
    sent = ("--data", f'{{"revision": "{revision}", "physical": true}}')
    await inside(
        node, "curl", "--fail", "--silent", "--show-error", *known, *sent, f"{ETCD}/v3/kv/compaction"
    )


@pytest.fixture(scope="module", autouse=True)
def forgotten(kubeconfig: str) -> None:
    if probe.PROBE.exists():
        asyncio.run(_forget(kubeconfig))


def _faults(kubeconfig: str, areas: Sequence[str], *more: str) -> dict[str, str]:
    found = asyncio.run(probe.outcomes(areas, "--kubeconfig", kubeconfig, *more))
    assert found
    return {name: fault for name, fault in found.items() if fault}


@probe.needs_probe
def test_the_real_server_passes_every_check(kubeconfig: str) -> None:
    faults = _faults(kubeconfig, [area for area in asyncio.run(probe.areas()) if area != CALLED])
    if BEHIND in faults and BEHIND not in _faults(kubeconfig, [BEHIND.partition(": ")[0]]):
        del faults[BEHIND]
    assert faults == {}


@probe.needs_probe
def test_the_real_server_calls_webhooks_as_the_checks_say(kubeconfig: str) -> None:
    assert _faults(kubeconfig, [CALLED], "--webhook-host", reachable()) == {}
