"""Every example on a real cluster, each step with just what was seen on steps."""

import asyncio
from pathlib import Path

import pytest

from gpuyard_cli.backends import kind as kind_backend
from gpuyard_cli.backends import running
from gpuyard_cli.scenarios.examples import Example, load
from gpuyard_cli.scenarios.runner import Outcome
from tests.e2e.kind.table import Table

ROOT = Path(__file__).parents[3] / "examples"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/scenario.yaml"))


async def on_kind(kubeconfig: str, example: Example, like: Outcome) -> Outcome:
    async with kind_backend.connected(kubeconfig) as api:
        return await kind_backend.run(api, example, like=like)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_the_same_answer_on_steps_embedded_and_a_real_cluster(
    name: str, kubeconfig: str, table: Table
) -> None:
    example = load(ROOT / name)
    steps = table.run(name, "steps", lambda: running.run(example, "steps"))
    embedded = table.run(name, "embedded", lambda: running.run(example, "embedded", like=steps))
    real = table.run(name, "kind", lambda: asyncio.run(on_kind(kubeconfig, example, steps)))
    for outcome in (steps, embedded, real):
        assert outcome.faults == ()
    assert len(real.steps) == len(example.scenario.steps)
