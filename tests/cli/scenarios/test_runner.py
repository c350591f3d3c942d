"""A scenario is done step by step on any backend, and ends with the first step that fails."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuyard.writes import JSON
from gpuyard_cli.scenarios import runner, scenario
from gpuyard_cli.scenarios.auditing import Audited
from gpuyard_cli.scenarios.backends import RefusedError
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.injections import DriverFault, RefusedBinding
from gpuyard_cli.scenarios.observation import Snapshot
from gpuyard_cli.scenarios.runner import STEP_SECONDS, Outcome, StepResult

OBJECTS = {"a.yaml": ({"kind": "Pod", "metadata": {"name": "a"}}, {"kind": "Pod", "metadata": {"name": "b"}})}


class FakeBackend:
    """A cluster in which a pod runs `delay` looks after it was applied; it notes what it was asked to do."""

    name = "fake"

    def __init__(self, delay: int = 0, *, ends: bool = False) -> None:
        self.did: list[str] = []
        self.delay, self.ends = delay, ends
        self.refused: str | None = None
        self.settles = 0
        self.distort: Callable[[Snapshot], Snapshot] = lambda snapshot: snapshot
        self._pods: dict[str, int] = {}
        self._looks = 0

    def now(self) -> float:
        return 100.0 + self._looks

    async def apply(self, obj: JSON) -> None:
        name = obj["metadata"]["name"]
        if name == self.refused:
            raise RefusedError(f"Pod {name}: forbidden")
        self.did.append(f"apply {name}")
        self._pods[name] = self._looks + self.delay

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        self.did.append(f"delete {kind} {namespace}/{name}")
        del self._pods[name]

    async def join(self, node: str) -> None:
        self.did.append(f"join {node}")

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        self.did.append(f"refuse {namespace}/{fault.pod}")

    async def hurt(self, fault: DriverFault) -> None:
        self.did.append(f"{fault.node}: {fault.key} is {fault.text}")

    async def reconfigure(self, yard: Path) -> None:
        self.did.append(f"yard {yard.name}")

    async def pass_on(self) -> bool:
        self._looks += 1
        return not self.ends

    async def audit(self) -> Audited:
        """Wrong for as many looks as `settles` says."""
        self.did.append("audit")
        self.settles -= 1
        return (
            Audited(silent=("device plugin of node-1: none runs there",)) if self.settles >= 0 else Audited()
        )

    async def snapshot(self, namespace: str) -> Snapshot:
        return self.distort(Snapshot((), tuple(map(self._pod, self._pods)), (), ()))

    def _pod(self, name: str) -> JSON:
        phase = "Running" if self._looks >= self._pods[name] else "Pending"
        metadata = {"name": name, "namespace": "default"}
        return {"metadata": metadata, "spec": {"containers": []}, "status": {"phase": phase}}


def example(*steps: Any) -> Example:
    document = {"title": "t", "namespace": "default", "steps": list(steps)}
    return Example(Path("mine"), (), scenario.parse(Path("scenario.yaml"), document), OBJECTS)


def expecting(phase: str, **fields: Any) -> Any:
    return {"name": f"a is {phase}", "expect": {"pods": {"a": {"phase": phase}}}, **fields}


def run(example: Example, backend: FakeBackend, like: Outcome | None = None) -> Outcome:
    return asyncio.run(runner.run(example, backend, like=like))


def test_a_step_does_faults_yards_nodes_deletions_and_objects_in_this_order() -> None:
    backend, begun = FakeBackend(), list[str]()
    steps = (
        expecting("Running", apply=["a.yaml"]),
        {
            "name": "all",
            "fault": {"refuse-binding": {"pod": "b"}},
            "yard": "more.yaml",
            "join": ["n"],
            "delete": ["pod/a"],
            "apply": ["a.yaml"],
        },
    )
    outcome = asyncio.run(runner.run(example(*steps), backend, begun.append))
    assert begun == ["a is Running", "all"]
    deeds = ["refuse default/b", "yard more.yaml", "join n", "delete pod default/a", "apply a", "apply b"]
    assert backend.did[2:] == [*deeds, "audit"]
    assert outcome.passed
    assert (outcome.example, outcome.backend, len(outcome.steps)) == ("mine", "fake", 2)


def test_an_expectation_is_waited_for() -> None:
    outcome = run(example(expecting("Running", apply=["a.yaml"])), FakeBackend(delay=5))
    assert outcome.passed
    assert outcome.steps[0].seen is not None
    assert outcome.steps[0].seen.pods["a"].phase == "Running"


def test_a_step_fails_with_what_is_missing_when_nothing_happens_any_more() -> None:
    backend = FakeBackend(delay=99, ends=True)
    outcome = run(example(expecting("Running", apply=["a.yaml"]), expecting("Gone")), backend)
    assert [step.faults for step in outcome.steps] == [("pod a: phase is Pending, expected Running",)]
    assert not outcome.passed


def test_a_step_fails_when_its_time_is_over() -> None:
    backend = FakeBackend(delay=10_000)
    assert run(example(expecting("Running", apply=["a.yaml"])), backend).steps[0].missing
    assert STEP_SECONDS < backend.now() - 100.0 <= STEP_SECONDS + 2


def test_an_object_that_the_server_refuses_fails_its_step() -> None:
    backend = FakeBackend()
    backend.refused = "b"
    outcome = run(example(expecting("Running", apply=["a.yaml"])), backend)
    assert outcome.steps == (StepResult("a is Running", None, missing=("Pod b: forbidden",)),)


def test_a_broken_law_fails_a_step_though_all_is_as_expected() -> None:
    def share(snapshot: Snapshot) -> Snapshot:
        held = [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-1"}]}]
        status = {
            "phase": "Running",
            "containerStatuses": [{"name": "main", "allocatedResourcesStatus": held}],
        }
        return replace(snapshot, pods=tuple({**pod, "status": status} for pod in snapshot.pods))

    backend = FakeBackend()
    backend.distort = share
    outcome = run(example(expecting("Running", apply=["a.yaml"])), backend)
    assert outcome.steps[0].broken == ("device GPU-1 has several owners: a/main, b/main",)
    assert not outcome.passed


def test_accounts_may_differ_while_things_settle_and_not_for_longer() -> None:
    backend = FakeBackend()
    backend.settles = 3
    assert run(example({"name": "anything"}), backend).passed
    assert backend.did == ["audit"] * 4
    backend.settles = 1000
    outcome = run(example({"name": "anything"}), backend)
    assert outcome.faults == ("audit: device plugin of node-1: none runs there",)
    assert not outcome.passed


def test_what_has_failed_already_is_not_audited() -> None:
    backend = FakeBackend(delay=99, ends=True)
    assert not run(example(expecting("Running", apply=["a.yaml"])), backend).passed
    assert "audit" not in backend.did


def test_a_step_must_end_with_what_was_seen_on_the_other_backend() -> None:
    mine = example({"name": "anything", "apply": ["a.yaml"]})
    model = run(mine, FakeBackend())
    assert run(mine, FakeBackend(), like=model).passed
    assert run(mine, FakeBackend(delay=3), like=model).passed, "it is waited for"
    (fault,) = run(mine, FakeBackend(delay=99, ends=True), like=model).steps[0].faults
    assert "elsewhere it was" in fault


@pytest.mark.parametrize("phase", ["Running", "Gone"])
def test_a_deleted_pod_is_gone_only_when_it_is_not_there(phase: str) -> None:
    steps = (expecting("Running", apply=["a.yaml"]), expecting(phase, delete=["pod/a"]))
    assert run(example(*steps), FakeBackend(ends=True)).passed == (phase == "Gone")
