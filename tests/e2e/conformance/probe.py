"""A list of checks that kube-apiserver passes: a program of its own that talks HTTP.

GPUYARD_API_PROBE says where it is. Each check prints its outcome; none knows of another.
"""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[4] / "shared" / "checks" / "api_probe.py"
PROBE = Path(os.environ.get("GPUYARD_API_PROBE", BESIDE))
AT_ONCE = 3
"""Programs that run side by side: checks mostly wait."""

needs_probe = pytest.mark.skipif(
    not PROBE.exists(), reason=f"the checks are not at {PROBE}: set GPUYARD_API_PROBE to run them"
)


async def areas() -> list[str]:
    """What the checks are about: their names begin so."""
    names = (await _said("--list")).decode().splitlines()
    return sorted({name.partition(": ")[0] for name in names})


async def outcomes(wanted: Iterable[str], *server: str) -> dict[str, str]:
    """Check -> what was wrong, empty where it passed. `server` are the program's arguments that say whom to ask."""
    turn = asyncio.Semaphore(AT_ONCE)
    parts = await asyncio.gather(*(_results(area, turn, server) for area in wanted))
    results = itertools.chain.from_iterable(parts)
    return {str(result["name"]): "" if result["passed"] else str(result["detail"]) for result in results}


async def _results(area: str, turn: asyncio.Semaphore, server: tuple[str, ...]) -> list[dict[str, object]]:
    async with turn:
        found: list[dict[str, object]] = json.loads(await _said(*server, "--json", "--only", f"{area}: "))
        return found


async def _said(*arguments: str) -> bytes:
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(PROBE), *arguments, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await program.communicate()
    return printed
