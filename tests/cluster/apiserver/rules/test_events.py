from collections.abc import Iterable
from typing import Any

import pytest

from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import events

EVENT: dict[str, Any] = {
    "apiVersion": "events.k8s.io/v1",
    "metadata": {"namespace": "n"},
    "regarding": {"namespace": "n"},
    "reason": "Placed",
    "type": "Normal",
    "action": "Bind",
    "eventTime": "2026-01-02T03:04:05.678900Z",
    "reportingController": "example.com/x",
    "reportingInstance": "x-1",
}


CORE = {"apiVersion": "v1", "metadata": {"namespace": "n"}, "involvedObject": {"namespace": "n"}}


def fields(found: Iterable[Cause]) -> list[str]:
    return [cause.field for cause in found]


def test_a_new_event_of_the_new_group_is_complete() -> None:
    assert not fields(events.create_faults(EVENT))
    for field in ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type"):
        bad = {key: value for key, value in EVENT.items() if key != field}
        assert set(fields(events.create_faults(bad))) == {field}
    assert fields(events.create_faults(EVENT | {"note": "x" * 1025})) == ["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("deprecatedCount", 2),
        ("deprecatedFirstTimestamp", "2026-01-02T03:04:05Z"),
        ("deprecatedSource", {"component": "x"}),
    ],
)
def test_what_only_old_events_have_is_no_part_of_a_new_one(field: str, value: object) -> None:
    [fault] = events.create_faults(EVENT | {field: value})
    assert fault.message.endswith("needs to be unset")


def test_an_event_of_the_core_group_is_held_to_its_form_only_if_it_has_a_time() -> None:
    assert not fields(events.create_faults(CORE))
    timed = {**CORE, "eventTime": EVENT["eventTime"]}
    required = ["reportingComponent", "reportingInstance", "action", "reason"]
    assert fields(events.create_faults(timed)) == [*required, "reportingComponent"]


@pytest.mark.parametrize(
    ("namespace", "about", "timed", "fits"),
    [
        ("a", "b", False, False),
        ("a", "b", True, True),
        ("default", "", False, True),
        ("kube-system", "", False, False),
        ("kube-system", "", True, True),
        ("a", "", True, False),
    ],
)
def test_an_event_lies_in_the_namespace_of_its_object(
    namespace: str, about: str, timed: bool, fits: bool
) -> None:
    event = {**EVENT, "metadata": {"namespace": namespace}, "regarding": {"namespace": about}}
    if not timed:
        del event["eventTime"]
    found = [field for field in fields(events.create_faults(event)) if field == "involvedObject.namespace"]
    assert found == ([] if fits else ["involvedObject.namespace"])


def test_later_an_event_of_the_new_group_says_only_how_often() -> None:
    more = {"series": {"count": 2, "lastObservedTime": EVENT["eventTime"]}}
    assert not fields(events.update_faults(EVENT, EVENT | more))
    changes = {"note": "x", "type": "Warning", "reportingController": "example.com/y", "action": "Other"}
    named = {"note": "message"}
    for field, value in changes.items():
        assert fields(events.update_faults(EVENT, EVENT | {field: value})) == [named.get(field, field)]
    once = {"series": {"count": 1}}
    assert fields(events.update_faults(EVENT, EVENT | once)) == ["series.count", "series.lastObservedTime"]


def test_an_event_of_the_core_group_may_change_in_any_way_that_it_may_begin() -> None:
    assert not fields(events.update_faults(CORE, {**CORE, "message": "x", "count": 2, "reason": "y"}))
    moved = {**CORE, "involvedObject": {"namespace": "b"}}
    assert fields(events.update_faults(CORE, moved)) == ["involvedObject.namespace"]
