"""Cells that many kinds show."""

from gpuyard_cluster.apiserver.tables import cells


def test_what_is_empty_is_shown_as_none() -> None:
    assert (cells.joined([]), cells.pairs({})) == ("<none>", "<none>")


def test_values_are_joined_and_selectors_sorted() -> None:
    assert cells.joined(["a", 1]) == "a,1"
    assert cells.pairs({"b": "2", "a": "1"}) == "a=1,b=2"


def test_missing_parts_are_empty() -> None:
    assert (cells.spec_of({}), cells.status_of({"status": None})) == ({}, {})


def test_an_age_is_counted_from_creation() -> None:
    assert cells.age({"metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"}}, 5.0) == "5s"
    assert cells.age({"metadata": {}}, 5.0) == "<unknown>"
