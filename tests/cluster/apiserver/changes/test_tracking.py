"""The managedFields of plain writes."""

from typing import Any

from hypothesis import given, settings

from gpuyard_cluster.apiserver.changes.apply import track
from tests.cluster.apiserver.changes.applying import DATA, LATER, NOW, config, owners


def test_an_entry_tells_when_its_manager_last_set_something() -> None:
    made = track(None, config({"x": "1", "y": "1"}), "creator", now=NOW)
    again = track(made, {**made, "data": {"x": "2", "y": "1"}}, "creator", now=LATER)
    assert [entry["time"] for entry in again["metadata"]["managedFields"]] == [LATER]
    fewer = track(made, {**made, "data": {"y": "1"}}, "creator", now=LATER)
    assert [entry["time"] for entry in fewer["metadata"]["managedFields"]] == [NOW]


def test_a_client_may_reset_or_rewrite_managed_fields() -> None:
    made = track(None, config({"x": "1"}), "creator", now=NOW)
    reset = track(made, config({"x": "1"}, managedFields=[{}]), "editor", now=NOW)
    assert owners(reset) == {}
    entry = {**made["metadata"]["managedFields"][0], "manager": "renamed"}
    garbage = [7, {"operation": "Apply"}, {**entry, "fieldsV1": {"k:{": {}}}]
    rewritten = track(made, config({"x": "1"}, managedFields=[entry, *garbage]), "editor", now=NOW)
    assert set(owners(rewritten)) == {"renamed"}


@settings(deadline=None, max_examples=60)
@given(DATA, DATA, DATA)
def test_every_changed_field_is_owned_by_who_changed_it_last(first: Any, second: Any, third: Any) -> None:
    live = track(None, config(first), "one", now=NOW)
    for manager, data in (("two", second), ("three", third)):
        old = live
        live = track(old, {**config(data), "metadata": old["metadata"]}, manager, now=NOW)
        for key, value in data.items():
            holders = {
                name for name, fields in owners(live).items() if f"f:{key}" in fields.get("f:data", {})
            }
            assert len(holders) == 1
            assert (manager in holders) >= (old["data"].get(key) != value)
