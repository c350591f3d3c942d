"""On steps: any part may die after any of its writes, and any write may fail; every law holds and all is done.

The state is rebuilt from the API. Each example runs once for each write that its parts make, or for every n-th where
they are many.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuyard.auditing.findings import Flaw
from gpuyard.writes import Write
from gpuyard_cli.backends.steps import StepsBackend
from gpuyard_cli.scenarios import runner
from gpuyard_cli.scenarios.examples import Example, load
from gpuyard_cli.scenarios.runner import Outcome, StepResult
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.wiring.steps import StepsYard

ROOT = Path(__file__).parents[2] / "examples"
NAMES = [path.parent.name for path in sorted(ROOT.glob("*/scenario.yaml"))]
RUNS = 25
"""Runs per example and kind of fault, at most."""

Prepare = Callable[[StepsYard], None]


def run(example: Example, prepare: Prepare) -> Outcome:
    with contextlib.closing(StepsYard(example.nodes)) as yard:
        prepare(yard)
        outcome: Outcome = yard.clock.complete(runner.run(example, StepsBackend(yard)))
        return outcome


def for_people(path: str) -> bool:
    """Whether a write is an event, which no part reads: the moments between the other writes are what matters."""
    return "/events" in path


def writes_of(example: Example) -> int:
    count = 0

    def counted(_part: str, write: Write) -> None:
        nonlocal count
        count += not for_people(write.path)

    assert run(example, lambda yard: yard.watchers.append(counted)).passed
    return count


def moments(example: Example) -> range:
    total = writes_of(example)
    return range(1, total + 1, -(-total // RUNS))


class Arrivals:
    """The pods that are bound and not admitted yet: a kubelet that starts anew then finds no device plugin, and fails
    them as real ones do."""

    def __init__(self) -> None:
        self._nodes: dict[str, str] = {}

    def hear(self, part: str, write: Write) -> None:
        pod, _, end = write.path.rpartition("/")
        if end == "binding" and isinstance(write.body, dict):
            self._nodes[pod] = write.body["target"]["name"]
        elif part.startswith("kubelet "):
            self._nodes.pop(pod, None)

    def need(self, part: str) -> bool:
        """Whether it is a kubelet that somebody waits for."""
        return part.removeprefix("kubelet ") in self._nodes.values()


def death_after(number: int) -> Prepare:
    """The part that makes write `number` dies as soon as it is done, before it learns of it."""

    def prepare(yard: StepsYard) -> None:
        left, arrivals = number, Arrivals()

        def kill(part: str, write: Write) -> None:
            nonlocal left
            arrivals.hear(part, write)
            left -= not for_people(write.path)
            if left == 0 and not for_people(write.path) and not arrivals.need(part):
                yard.restart(part)

        yard.watchers.append(kill)

    return prepare


def at_write(yard: StepsYard, number: int, fault: Callable[[str], ApiError | None]) -> None:
    """What write `number` of the parts is answered, by its path."""
    left = number

    def answer(request: Request) -> ApiError | None:
        nonlocal left
        counts = request.headers.get("user-agent") != "kubectl" and not for_people(request.path)
        left -= counts
        if left or not counts:
            return None
        left = -1
        return fault(request.path)

    yard.server.faults.append(answer)


def failure_of(number: int) -> Prepare:
    """Write `number` of the parts fails, as when etcd is away for a moment."""
    timed_out = ApiError(500, "InternalError", "etcdserver: request timed out")
    return lambda yard: at_write(yard, number, lambda _: timed_out)


def fault_at(number: int) -> Prepare:
    """At write `number` its part comes upon a fault of its own, which whoever runs it reports.

    Not at a Bind: that is a question, and the one who asked asks again.
    """

    def fault(path: str) -> None:
        if not path.endswith("/binding"):
            raise LookupError("a fault of ours")

    def prepare(yard: StepsYard) -> None:
        step = yard.clock.step

        def reported() -> str | None:
            try:
                return step()
            except LookupError:
                return "a fault"

        yard.clock.step = reported  # type: ignore[method-assign]
        at_write(yard, number, fault)

    return prepare


def problems(example: Example, fault: Callable[[int], Prepare]) -> list[str]:
    """What went wrong, per write. A law may never break; what the scenario expects must be there in the end.

    Where pods compete for the last share, a fault may change who comes too late, and then only the numbers count. A
    pod that is bound before its node has said what GPUs it has is not planned: a fault can only make that likelier,
    and a plan with a GPU whose failure has not been told yet, for which the kubelet gives a healthy one.
    """
    found = []
    late = [Flaw.NO_PLAN, *([Flaw.PLAN_NOT_SERVED] if example.name.startswith("08") else [])]
    for number in moments(example):
        outcome = run(example, fault(number))
        last = outcome.steps[-1]
        allowed = example.name.startswith("06") and ten_share(last)
        faults = last.broken if allowed else outcome.faults
        found += [f"write {number}: {text}" for text in faults if not any(flaw in text for flaw in late)]
    return found


def ten_share(result: StepResult) -> bool:
    """Ten pods hold a share, the others have ended or say why they wait."""
    assert result.seen is not None
    pods = result.seen.pods.values()
    running = [pod for pod in pods if pod.phase == "Running" and pod.devices]
    waiting = [pod for pod in pods if pod.phase == "Pending"]
    return len(running) == 10 and all(pod.code == "SharesExhausted" and pod.judged for pod in waiting)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_that_dies_after_a_write_goes_on_from_the_api(name: str) -> None:
    assert problems(load(ROOT / name), death_after) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_write_that_fails_is_made_good(name: str) -> None:
    assert problems(load(ROOT / name), failure_of) == []


def test_a_part_that_comes_upon_a_fault_of_its_own_goes_on_with_its_work() -> None:
    assert problems(load(ROOT / "04-gang"), fault_at) == []
