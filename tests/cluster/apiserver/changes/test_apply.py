"""Server-side apply."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.changes.apply import track
from gpuyard_cluster.apiserver.errors import ApiError
from tests.cluster.apiserver.changes.applying import DATA, NOW, applied, config, deployment, owners


def test_a_conflict_names_manager_and_field_and_force_takes_over() -> None:
    made = applied(None, config({"x": "1"}), "one")
    with pytest.raises(ApiError) as refused:
        applied(made, config({"x": "2"}), "two")
    status = refused.value.status()
    assert (status["code"], status["reason"]) == (409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.x'
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.x"}
    assert status["details"]["causes"] == [cause]
    forced = applied(made, config({"x": "2"}), "two", force=True)
    assert forced["data"] == {"x": "2"}
    assert owners(forced) == {"two": {"f:data": {"f:x": {}}}}


def test_several_conflicts_are_listed_by_manager() -> None:
    made = track(None, config({"x": "1", "y": "1"}), "editor", now=NOW)
    with pytest.raises(ApiError) as refused:
        applied(made, config({"x": "2", "y": "2"}), "one")
    wanted = 'Apply failed with 2 conflicts: conflicts with "editor" using v1:\n- .data.x\n- .data.y'
    assert refused.value.message == wanted


def test_dropping_all_labels_leaves_the_rest_of_the_metadata() -> None:
    made = applied(None, config(labels={"l": "v"}, namespace="ns"), "one")
    assert applied(made, config(namespace="ns"), "one")["metadata"] == {"name": "a", "namespace": "ns"}


def test_a_quantity_in_another_notation_is_no_change() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    made = applied(None, {**pod, "spec": {"overhead": {"cpu": "1"}}}, "one")
    same = applied(made, {**pod, "spec": {"overhead": {"cpu": "1000m"}}}, "two")
    assert same["spec"] == made["spec"]
    assert set(owners(same)) == {"one", "two"}


@pytest.mark.parametrize(
    ("wanted", "code", "told"),
    [
        ({"metadata": {"name": "a"}}, 400, "apiVersion and kind"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": "a"}, 400, "metadata must be set"),
        (config(managedFields=[{"manager": "x"}]), 400, "metadata.managedFields must be nil"),
        (config(managedFields=[]), 400, "metadata.managedFields must be nil"),
        (deployment({"image": "x"}, {"image": "y"}), 500, ".spec.template.spec.containers"),
        (deployment({"name": "a"}, {"name": "a"}), 500, ".spec.template.spec.containers"),
        (deployment({"env": [{"value": "1"}, {}]}), 500, ".spec.template.spec.containers[0].env"),
    ],
)
def test_a_configuration_that_cannot_be_applied_is_refused(
    wanted: dict[str, Any], code: int, told: str
) -> None:
    with pytest.raises(ApiError) as refused:
        applied(None, wanted, "one")
    assert refused.value.code == code
    assert told in refused.value.message


STEPS = st.lists(st.tuples(st.sampled_from(["one", "two", "three"]), DATA), min_size=1, max_size=6)


@settings(deadline=None, max_examples=60)
@given(STEPS)
def test_forced_applies_leave_exactly_what_their_managers_own(
    steps: list[tuple[str, dict[str, str]]],
) -> None:
    live: dict[str, Any] | None = None
    for manager, data in steps:
        live = applied(live, config(data), manager, force=True)
        assert data.items() <= live.get("data", {}).items()
        assert applied(live, config(data), manager) == live
    owned = [fields.get("f:data", {}) for fields in owners(live or {"metadata": {}}).values()]
    assert {f"f:{key}" for key in (live or {}).get("data", {})} == {key for fields in owned for key in fields}
