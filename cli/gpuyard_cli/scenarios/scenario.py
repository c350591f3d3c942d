"""A scenario: ordered steps, and what must be seen after each. Written once, run on every backend."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuyard.verdicts import Reason
from gpuyard_cli.inputs import Fields
from gpuyard_cli.scenarios import injections
from gpuyard_cli.scenarios.injections import Injection

GONE = "Gone"
PHASES = ("Pending", "Running", "Succeeded", "Failed", GONE)
_STATUSES = ("True", "False", "Unknown")


@dataclass(frozen=True, slots=True)
class ExpectedPod:
    """What must be true of one pod; None or empty: anything.

    `devices` are written as `scenarios.observation` writes them. `code` is the pod's reason code, `reasons` those of
    single nodes.
    """

    phase: str
    node: str | None = None
    devices: Mapping[str, tuple[str, ...]] | None = None
    code: str | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExpectedGroup:
    """The condition Scheduled of one PodGroup; `message` is a part of its text."""

    scheduled: str
    reason: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must be seen after a step. Counts are whole devices by node and resource."""

    pods: Mapping[str, ExpectedPod] = field(default_factory=dict)
    groups: Mapping[str, ExpectedGroup] = field(default_factory=dict)
    reservations: tuple[str, ...] | None = None
    allocatable: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    free: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sees: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """pod/container -> lines that its log must hold."""
    links_down: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """node -> pairs of GPUs without their NVLink, such as 0-1."""


@dataclass(frozen=True, slots=True)
class Step:
    """First the fault, then nodes, deletions and objects; then the expectation is waited for.

    `yard` is a file that says what GPUs the nodes have from now on; empty: those that they have.
    """

    name: str
    fault: Injection | None = None
    yard: str = ""
    join: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    apply: tuple[str, ...] = ()
    expect: Expectation = Expectation()


@dataclass(frozen=True, slots=True)
class Scenario:
    title: str
    namespace: str
    steps: tuple[Step, ...]


def parse(file: Path, document: Any) -> Scenario:
    """The scenario in a decoded scenario.yaml. InvalidInputError names the first fault."""
    fields = Fields(file, "", document)
    title, namespace = fields.text("title"), fields.text("namespace")
    steps = fields.take("steps")
    if not isinstance(steps, list) or not steps:
        raise fields.fault("steps", "a scenario needs steps", "write a list with at least one step")
    fields.end(("title", "namespace", "steps"))
    return Scenario(
        title, namespace, tuple(_step(file, f"steps[{n}]", found) for n, found in enumerate(steps))
    )


def _step(file: Path, path: str, document: Any) -> Step:
    fields = Fields(file, path, document)
    expected = fields.fields("expect")
    step = Step(
        name=fields.text("name"),
        fault=injections.parse(fields.fields("fault")),
        yard=fields.text("yard", ""),
        join=fields.texts("join"),
        delete=fields.texts("delete"),
        apply=fields.texts("apply"),
        expect=_expectation(expected) if expected else Expectation(),
    )
    for name in step.delete:
        if name.count("/") != 1:
            raise fields.fault("delete", f"{name!r} is not an object", "write kind/name, such as pod/train-1")
    fields.end(("name", "fault", "yard", "join", "delete", "apply", "expect"))
    return step


def _expectation(fields: Fields) -> Expectation:
    pods, groups = fields.mapping("pods"), fields.mapping("groups")
    expectation = Expectation(
        pods={
            name: _pod(Fields(fields.file, f"{fields.path}.pods.{name}", found))
            for name, found in pods.items()
        },
        groups={
            name: _group(Fields(fields.file, f"{fields.path}.groups.{name}", found))
            for name, found in groups.items()
        },
        reservations=fields.texts("reservations") if "reservations" in fields else None,
        allocatable=_counts(fields, "allocatable"),
        free=_counts(fields, "free"),
        sees=fields.text_lists("sees"),
        links_down=fields.text_lists("links-down"),
    )
    fields.end(("pods", "groups", "reservations", "allocatable", "free", "sees", "links-down"))
    return expectation


def _pod(fields: Fields) -> ExpectedPod:
    phase = fields.text("phase")
    if phase not in PHASES:
        raise fields.fault("phase", f"unknown phase {phase!r}", f"known ones are {', '.join(PHASES)}")
    node, code = fields.text("node", ""), fields.text("code", "")
    expected = ExpectedPod(
        phase=phase,
        node=node or None,
        devices=fields.text_lists("devices") or None,
        code=_code(fields, "code", code) if code else None,
        reasons={
            name: _code(fields, f"reasons.{name}", found) for name, found in fields.mapping("reasons").items()
        },
    )
    fields.end(("phase", "node", "devices", "code", "reasons"))
    return expected


def _code(fields: Fields, name: str, code: Any) -> str:
    if code not in list(Reason):
        raise fields.fault(name, f"unknown reason code {code!r}", f"known ones are {', '.join(Reason)}")
    return str(code)


def _group(fields: Fields) -> ExpectedGroup:
    scheduled = fields.text("scheduled")
    if scheduled not in _STATUSES:
        raise fields.fault(
            "scheduled", f"unknown status {scheduled!r}", f"known ones are {', '.join(_STATUSES)}"
        )
    expected = ExpectedGroup(scheduled, fields.text("reason", "") or None, fields.text("message", ""))
    fields.end(("scheduled", "reason", "message"))
    return expected


def _counts(fields: Fields, name: str) -> Mapping[str, Mapping[str, int]]:
    found = fields.mapping(name)
    for node, counts in found.items():
        for resource, count in Fields(fields.file, f"{fields.path}.{name}.{node}", counts).items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise fields.fault(f"{name}.{node}.{resource}", f"{count!r} is not a count", "give 0 or more")
    return found
