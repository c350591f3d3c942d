"""In a large cluster all parts call each other directly, and give the same answers."""

from pathlib import Path

import pytest

from gpuyard_cli.backends import running
from gpuyard_cli.scenarios.examples import load
from gpuyard_cluster.wiring import direct_node

ROOT = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["03-mig", "04-gang", "05b-wishes"])
def test_an_example_ends_every_step_in_a_large_cluster_with_just_what_was_seen_on_steps(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = load(ROOT / name)
    on_steps = running.run(example, "steps")
    monkeypatch.setattr(direct_node, "ABOVE", 0)
    assert running.run(example, "embedded", like=on_steps).faults == ()
