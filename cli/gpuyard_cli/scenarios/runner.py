"""Runs a scenario on a backend: does each step, waits for what it expects, says where it differs; then an audit."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gpuyard_cli.scenarios.auditing import Audited, settled
from gpuyard_cli.scenarios.backends import Backend, RefusedError
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.expectations import differences
from gpuyard_cli.scenarios.injections import RefusedBinding
from gpuyard_cli.scenarios.invariants import Watchman
from gpuyard_cli.scenarios.observation import Observation, observe
from gpuyard_cli.scenarios.scenario import Step

STEP_SECONDS = 30.0
"""So long a step may take, in the backend's own time."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """`seen` is what was seen when the step ended. Each fault is a line.

    `broken` are laws that no cluster may break, `missing` is what the scenario expected in vain.
    """

    name: str
    seen: Observation | None
    broken: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        return self.broken + self.missing


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a scenario. It ends with the first step that failed; only if none did there is an audit."""

    example: str
    backend: str
    steps: tuple[StepResult, ...] = field(default_factory=tuple)
    audited: Audited = Audited()

    @property
    def faults(self) -> tuple[str, ...]:
        """A line for each fault, with the step that it was seen in."""
        steps = [f"{step.name}: {fault}" for step in self.steps for fault in step.faults]
        return (*steps, *(f"audit: {line}" for line in self.audited.lines))

    @property
    def passed(self) -> bool:
        return not self.faults


async def run(
    example: Example,
    backend: Backend,
    begin: Callable[[str], None] = lambda _name: None,
    like: Outcome | None = None,
) -> Outcome:
    """Run every step; `begin` is told the name of each before it starts.

    With `like`, an outcome of another backend, each step must also end with just what was seen there.
    """
    results: list[StepResult] = []
    watchman = Watchman()
    for number, step in enumerate(example.scenario.steps):
        begin(step.name)
        model = like.steps[number].seen if like else None
        results.append(await _step(example, step, backend, _Judge(step, watchman, model)))
        if results[-1].faults:
            return Outcome(example.name, backend.name, tuple(results))
    audited = await settled(backend.audit, backend.now, backend.pass_on)
    return Outcome(example.name, backend.name, tuple(results), audited)


@dataclass(frozen=True, slots=True)
class _Judge:
    """What a step is held against."""

    step: Step
    watchman: Watchman
    model: Observation | None

    def differences(self, seen: Observation) -> tuple[str, ...]:
        found = differences(self.step.expect, seen)
        if self.model is not None and not found and seen != self.model:
            return (f"seen is {seen}, elsewhere it was {self.model}",)
        return found


async def _step(example: Example, step: Step, backend: Backend, judge: _Judge) -> StepResult:
    try:
        await _act(example, step, backend)
    except RefusedError as refusal:
        return StepResult(step.name, None, missing=(str(refusal),))
    return await _await(example.scenario.namespace, backend, judge)


async def _act(example: Example, step: Step, backend: Backend) -> None:
    namespace = example.scenario.namespace
    if isinstance(step.fault, RefusedBinding):
        await backend.refuse(namespace, step.fault)
    elif step.fault is not None:
        await backend.hurt(step.fault)
    if step.yard:
        await backend.reconfigure(example.folder / step.yard)
    for node in step.join:
        await backend.join(node)
    for target in step.delete:
        kind, _, name = target.partition("/")
        await backend.delete(kind, namespace, name)
    for file in step.apply:
        for obj in example.objects[file]:
            await backend.apply(obj)


async def _await(namespace: str, backend: Backend, judge: _Judge) -> StepResult:
    """Look again and again until all is as expected, a law is broken, or the time is over."""
    name, deadline = judge.step.name, backend.now() + STEP_SECONDS
    while True:
        snapshot = await backend.snapshot(namespace)
        seen = observe(snapshot, namespace)
        broken = judge.watchman.look(snapshot, backend.now())
        missing = judge.differences(seen)
        if broken or not missing:
            return StepResult(name, seen, broken)
        if backend.now() > deadline or not await backend.pass_on():
            return StepResult(name, seen, missing=missing)
