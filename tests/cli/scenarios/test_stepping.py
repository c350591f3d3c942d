"""`--step` shows every event, and the state of the cluster whenever it has changed."""

import contextlib
import io
from pathlib import Path

from gpuyard_cli.backends.steps import StepsBackend
from gpuyard_cli.scenarios import runner
from gpuyard_cli.scenarios.examples import load
from gpuyard_cli.scenarios.observation import Observation, PodSeen
from gpuyard_cli.scenarios.stepping import Stepper, state
from gpuyard_cluster.wiring.steps import StepsYard
from tests.cli.written import write_example


def test_every_event_is_printed_with_its_moment_and_waited_for(tmp_path: Path) -> None:
    example, out, pauses = load(write_example(tmp_path)), io.StringIO(), list[None]()
    with contextlib.closing(StepsYard(example.nodes)) as yard:
        stepper = Stepper(yard, "default", out, lambda: pauses.append(None))
        yard.clock.complete(runner.run(example, StepsBackend(yard, stepper.after_step)))
    lines = out.getvalue().splitlines()
    events = [line for line in lines if line.startswith("  [  0.000 s] ")]
    assert len(pauses) == len(events) > 20
    assert "  [  0.000 s] scheduler" in events
    assert "      node node-1: 1 of 2 nvidia.com/gpu free" in lines
    assert "      pod train: Pending on node-1" in lines
    assert "      pod train: Running on node-1, main has 0" in lines


def test_a_state_is_printed_only_when_it_is_another(tmp_path: Path) -> None:
    example, out = load(write_example(tmp_path)), io.StringIO()
    with contextlib.closing(StepsYard(example.nodes)) as yard:
        yard.settle()
        stepper = Stepper(yard, "default", out, lambda: None)
        stepper.after_step("first")
        stepper.after_step("second")
    assert out.getvalue().splitlines() == [
        "  [  0.000 s] first",
        "      node node-1: 2 of 2 nvidia.com/gpu free",
        "  [  0.000 s] second",
    ]


def test_the_state_names_nodes_pods_and_reservations_in_order() -> None:
    seen = Observation(
        pods={"b": PodSeen("Pending"), "a": PodSeen("Running", "n", {"x": ("0",), "w": ("1", "2")})},
        groups={},
        reservations=("gang",),
        allocatable={"n": {"r": 3}, "m": {}},
        free={"n": {"r": 1}, "m": {}},
    )
    assert state(seen) == [
        "node m: no devices",
        "node n: 1 of 3 r free",
        "pod a: Running on n, w has 1 2, x has 0",
        "pod b: Pending",
        "reservation gang",
    ]
