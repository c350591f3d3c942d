"""The columns of the built-in kinds."""

import pytest

from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.tables.printers import PLAIN, PRINTERS

EMPTY = {"metadata": {"name": "a"}}


@pytest.mark.parametrize("qualified", sorted(PRINTERS))
def test_every_printer_has_a_cell_for_each_column_even_of_an_empty_object(qualified: str) -> None:
    printer = PRINTERS[qualified]
    assert len(printer.cells(EMPTY, 0.0)) == len(printer.columns())


def test_every_printer_is_for_a_resource_that_is_served() -> None:
    assert set(PRINTERS) <= {resource.qualified for resource in BUILTIN}


def test_wide_columns_have_a_lower_priority() -> None:
    columns = PRINTERS["pods"].columns()
    assert [title for title, priority, _ in columns if priority == 0] == [
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
    ]
    assert ("Nominated Node", 1, "string") in columns


def test_titles_may_have_parentheses_of_their_own() -> None:
    assert ("Port(s)", 0, "string") in PRINTERS["services"].columns()


def test_counts_are_numbers() -> None:
    assert ("Ready", 0, "integer") in PRINTERS["replicasets.apps"].columns()
    assert ("Created At", 0, "date") in PRINTERS["clusterroles.rbac.authorization.k8s.io"].columns()


def test_an_event_is_known_by_when_it_was_last_seen() -> None:
    assert PRINTERS["events"].columns()[0] == ("Last Seen", 0, "string")


def test_other_kinds_show_name_and_age() -> None:
    assert PLAIN.columns() == [("Name", 0, "string"), ("Age", 0, "string")]
    assert PLAIN.cells(EMPTY, 0.0) == ["a", "<unknown>"]
