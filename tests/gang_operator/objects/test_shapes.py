"""Whatever somebody writes into a PodGroup or a Reservation by hand, nothing crashes, and no other group waits."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.groups.reservations import Reservation, Seat, Victim, to_object
from gpuyard.writes import JSON, Write
from gpuyard_operator.cache import PATHS, Cache
from gpuyard_operator.deciding import reconcile

KEY, NOW = ("default", "ring"), 1_800_000_000.0
WRONG: tuple[Any, ...] = (None, 7, "x", [], [7], [{"type": [], "uid": {}}], {"x": 7}, {"type": [], "uid": {}})
PATH = tuple[str | int, ...]


def reservation() -> JSON:
    seat, victim = (
        Seat("u", "a", "node-1", {"c": {vocabulary.GPU: ("GPU-1",)}}),
        Victim("v", "default", "v", "w"),
    )
    made = to_object(Reservation(*KEY, 1, NOW + 20, (seat,), (victim,)), "ring")
    told = {"type": "Scheduled", "status": "False", "reason": "x", "message": "", "lastTransitionTime": "x"}
    metadata = {**made["metadata"], "uid": "r", "resourceVersion": "1", "labels": {}, "annotations": {}}
    return {**made, "metadata": metadata, "status": {"conditions": [told]}}


def pod_group() -> JSON:
    notes = {vocabulary.TOPOLOGY: "same-rack", vocabulary.SCHEDULE_DEADLINE: "60", vocabulary.QUEUE: "red"}
    times = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    metadata = {"name": "ring", "namespace": "default", "uid": "ring", "annotations": notes, **times}
    told = reservation()["status"]["conditions"]
    status = {"phase": "Pending", "conditions": told, "running": 0, "scheduleStartTime": "x"}
    return {"metadata": metadata, "spec": {"minMember": 1}, "status": status}


def pod() -> JSON:
    limits = {"resources": {"limits": {vocabulary.GPU: "1"}}}
    labels = {vocabulary.POD_GROUP: "ring"}
    gates = [{"name": vocabulary.GANG_GATE}]
    metadata = {"name": "a", "namespace": "default", "uid": "u", "labels": labels}
    return {"metadata": metadata, "spec": {"schedulingGates": gates, "containers": [{"name": "c", **limits}]}}


def paths(found: Any, at: PATH = ()) -> Iterator[PATH]:
    """Of all parts of an object, and of all parts of these."""
    parts = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for name, part in parts:
        yield (*at, name)
        yield from paths(part, (*at, name))


def with_wrong(obj: JSON, path: PATH, wrong: Any) -> JSON:
    found = copy.deepcopy(obj)
    part: Any = found
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = copy.deepcopy(wrong)
    return found


MADE = {"podgroups": pod_group(), "reservations": reservation()}
CASES = [(resource, path) for resource, obj in MADE.items() for path in paths(obj)]


@pytest.mark.parametrize(("resource", "path"), CASES, ids=lambda part: str(part))
@pytest.mark.parametrize("grouped", [True, False], ids=["with its group", "alone"])
def test_a_field_that_is_wrong_is_no_reason_to_crash(resource: str, path: PATH, grouped: bool) -> None:
    for wrong in WRONG:
        cache = Cache()
        objects = {**MADE, resource: with_wrong(MADE[resource], path, wrong)}
        if not grouped:
            del objects["podgroups"]
        for name in PATHS:
            cache.replace(name, [])
        cache.observe("pods", "ADDED", pod())
        for name, obj in objects.items():
            cache.observe(name, "ADDED", obj)
        cache.queues.settle(NOW)
        decision = reconcile.reconcile(cache.view(KEY), NOW)
        assert all(isinstance(write, Write) for write in decision.writes)
        for name, obj in objects.items():
            cache.observe(name, "DELETED", obj)
