"""Every example, on every backend that needs no Docker, with the same answer."""

import functools
from pathlib import Path

import pytest

from gpuyard_cli.backends import running
from gpuyard_cli.scenarios import runner
from gpuyard_cli.scenarios.examples import Example, load
from gpuyard_cli.scenarios.runner import Outcome
from gpuyard_cluster.wiring.parts import Options

ROOT = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.parent for path in ROOT.glob("*/scenario.yaml"))
NAMES = [folder.name for folder in FOLDERS]


def example(name: str) -> Example:
    return load(ROOT / name)


@functools.cache
def on_steps(name: str) -> Outcome:
    return running.run(example(name), "steps")


def test_there_are_examples() -> None:
    assert len(NAMES) >= 8


@pytest.mark.parametrize("name", NAMES)
def test_an_example_does_on_steps_what_its_scenario_says(name: str) -> None:
    assert on_steps(name).faults == ()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_ends_every_step_on_embedded_with_just_what_was_seen_on_steps(name: str) -> None:
    outcome = running.run(example(name), "embedded", like=on_steps(name))
    assert outcome.faults == ()
    assert len(outcome.steps) == len(example(name).scenario.steps)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_does_not_depend_on_what_a_real_cluster_leaves_to_chance(name: str) -> None:
    for seed in (1, 2):
        outcome = running.run(example(name), "steps", options=Options(seed=seed), like=on_steps(name))
        assert outcome.faults == ()


@pytest.mark.parametrize("name", ["02-filter-score-reserve-bind", "05-topology"])
def test_on_steps_plans_come_true_only_through_get_preferred_allocation(name: str) -> None:
    outcomes = [running.run(example(name), "steps", options=Options(prefer=False, seed=n)) for n in range(8)]
    failed = [outcome for outcome in outcomes if not outcome.passed]
    assert len(failed) >= 6, "free ids are offered in random order: a few plans come true by luck, not more"
    assert all("devices of" in " ".join(outcome.faults) for outcome in failed)


@pytest.mark.parametrize("name", ["02-filter-score-reserve-bind", "05-topology"])
def test_on_embedded_plans_come_true_only_through_get_preferred_allocation(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is wrong stays wrong: it need not be waited for as long as for what is slow.
    monkeypatch.setattr(runner, "STEP_SECONDS", 4.0)
    runs = (running.run(example(name), "embedded", options=Options(prefer=False, seed=n)) for n in range(4))
    assert any("devices of" in " ".join(outcome.faults) for outcome in runs)
