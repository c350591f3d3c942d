"""The entries of managedFields."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.changes.managers import (
    APPLY,
    UPDATE,
    Entry,
    Manager,
    conflict,
    documents,
    entries_of,
)

FIELDS: dict[str, Any] = {"f:data": {"f:x": {}, "f:y": {}}}
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def entry(name: str, operation: str = APPLY, time: str = EARLY, **more: Any) -> Entry:
    return Entry(Manager(name, operation, "v1", **more), FIELDS, time)


def test_appliers_come_first_then_the_oldest() -> None:
    entries = [entry("d", UPDATE, EARLY), entry("c", time=LATE), entry("b"), entry("a", UPDATE, LATE)]
    assert [document["manager"] for document in documents(entries)] == ["b", "c", "d", "a"]


def test_an_applier_is_the_same_in_every_version_and_an_updater_is_not() -> None:
    assert Manager("a", APPLY, "v1").identity == Manager("a", APPLY, "v2").identity
    assert Manager("a", UPDATE, "v1").identity != Manager("a", UPDATE, "v2").identity
    assert Manager("a", APPLY, "v1").identity != Manager("a", APPLY, "v1", "status").identity


def test_a_conflict_tells_the_subresource_and_the_version_of_an_update() -> None:
    holder = entry("kubelet", UPDATE, subresource="status")
    refusal = conflict([holder], {"f:data": {"f:x": {}}})
    assert refusal is not None
    wanted = 'conflict with "kubelet" with subresource "status" using v1: .data.x'
    assert refusal.message == f"Apply failed with 1 conflict: {wanted}"
    assert conflict([holder], {"f:data": {"f:z": {}}}) is None


SOUND: dict[str, Any] = entry("a").document()


@pytest.mark.parametrize(
    "document",
    [
        7,
        {},
        {**SOUND, "operation": "Guess"},
        {**SOUND, "manager": 7},
        {**SOUND, "fieldsV1": []},
        {**SOUND, "time": 7},
    ],
    ids=str,
)
def test_what_is_no_entry_is_passed_over(document: Any) -> None:
    assert entries_of([document, SOUND]) == [entry("a")]


def test_what_is_no_list_has_no_entries() -> None:
    assert entries_of("nothing") == []
