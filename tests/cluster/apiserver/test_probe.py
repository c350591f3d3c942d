"""The API server against a list of checks that kube-apiserver passes: `passing_checks.txt` only grows."""

import asyncio
from pathlib import Path

from gpuyard_cluster.apiserver.http import serve
from tests.e2e.conformance import probe
from tests.e2e.conformance.embedded import Cluster

PASSING = Path(__file__).with_name("passing_checks.txt")


async def run_all() -> dict[str, str]:
    """Check -> what was wrong; empty where it passed."""
    cluster = Cluster()
    listener = await serve(cluster.server)
    try:
        return await probe.outcomes(await probe.areas(), listener.url)
    finally:
        await listener.close()
        await cluster.runtime.close()


@probe.needs_probe
def test_checks_that_passed_once_pass_for_ever() -> None:
    listed = set(PASSING.read_text().splitlines())
    outcome = asyncio.run(run_all())
    broken = {
        name: outcome.get(name, "there is no such check") for name in listed if outcome.get(name, "missing")
    }
    assert not broken
    new = [name for name, fault in outcome.items() if not fault and name not in listed]
    assert not new, f"now passing, add to {PASSING.name}: {new}"
