"""The API server against a list of checks that kube-apiserver passes: `passing_checks.txt` only grows.

The checks are a program of their own that talks HTTP; GPUYARD_API_PROBE says where it is.
"""

import asyncio
import itertools
import json
import os
import sys
from pathlib import Path

import pytest

from gpuyard_cluster.apiserver.http import serve
from tests.e2e.conformance.embedded import Cluster

PASSING = Path(__file__).with_name("passing_checks.txt")
BESIDE = Path(__file__).parents[4] / "shared" / "checks" / "api_probe.py"
PROBE = Path(os.environ.get("GPUYARD_API_PROBE", BESIDE))
AT_ONCE = 3
"""Programs that run side by side: checks mostly wait, and none knows of another."""


async def probe(*arguments: str) -> bytes:
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(PROBE), *arguments, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await program.communicate()
    return printed


async def results_of(url: str, area: str, turn: asyncio.Semaphore) -> list[dict[str, object]]:
    async with turn:
        found: list[dict[str, object]] = json.loads(await probe(url, "--json", "--only", f"{area}: "))
        return found


async def run_all() -> dict[str, str]:
    """Check -> what was wrong; empty where it passed."""
    cluster = Cluster()
    listener = await serve(cluster.server)
    try:
        names = (await probe("--list")).decode().splitlines()
        areas = sorted({name.partition(": ")[0] for name in names})
        turn = asyncio.Semaphore(AT_ONCE)
        parts = await asyncio.gather(*(results_of(listener.url, area, turn) for area in areas))
    finally:
        await listener.close()
        await cluster.runtime.close()
    results = itertools.chain.from_iterable(parts)
    return {str(result["name"]): "" if result["passed"] else str(result["detail"]) for result in results}


@pytest.mark.skipif(
    not PROBE.exists(), reason=f"the checks are not at {PROBE}: set GPUYARD_API_PROBE to run them"
)
def test_checks_that_passed_once_pass_for_ever() -> None:
    listed = set(PASSING.read_text().splitlines())
    outcome = asyncio.run(run_all())
    broken = {
        name: outcome.get(name, "there is no such check") for name in listed if outcome.get(name, "missing")
    }
    assert not broken
    new = [name for name, fault in outcome.items() if not fault and name not in listed]
    assert not new, f"now passing, add to {PASSING.name}: {new}"
