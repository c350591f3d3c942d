from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.rules import names

Metadata = dict[str, Any]


def faults(kind: str, metadata: Metadata) -> set[tuple[str, str]]:
    return {(cause.field, cause.reason) for cause in names.validate_metadata(kind, metadata)}


@pytest.mark.parametrize(
    ("metadata", "field", "reason"),
    [
        ({"name": "n" * 254}, "metadata.name", "FieldValueInvalid"),
        ({"name": "a", "labels": {"x": "y" * 64}}, "metadata.labels", "FieldValueInvalid"),
        ({"name": "a", "labels": {"bad key": "y"}}, "metadata.labels", "FieldValueInvalid"),
        ({"name": "a", "labels": {"/x": "y"}}, "metadata.labels", "FieldValueInvalid"),
        ({"name": "a", "labels": {"UPPER.com/x": "y"}}, "metadata.labels", "FieldValueInvalid"),
        ({"name": "a", "annotations": {"x": "y" * 262145}}, "metadata.annotations", "FieldValueTooLong"),
        ({"name": "a", "finalizers": ["b c"]}, "metadata.finalizers", "FieldValueInvalid"),
        (
            {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]},
            "metadata.finalizers",
            "FieldValueInvalid",
        ),
    ],
)
def test_bad_metadata_is_told_by_field(metadata: Metadata, field: str, reason: str) -> None:
    assert (field, reason) in faults("ConfigMap", metadata)


def test_good_metadata_is_left_in_peace() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "1", "controller": True}
    metadata = {
        "name": "a.b-1",
        "labels": {"example.com/Key_1": "V.1", "empty": ""},
        "annotations": {"Example.com/x": "any text"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [owner],
    }
    assert not faults("ConfigMap", metadata)


def test_some_kinds_have_rules_of_their_own_for_names() -> None:
    assert not faults("Pod", {"name": "a.b"})
    assert faults("Namespace", {"name": "a.b"})
    assert not faults("ClusterRole", {"name": "system:node"})
    assert faults("ClusterRole", {"name": "a/b"})


def test_only_one_owner_controls() -> None:
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": n, "uid": n, "controller": True} for n in "ab"]
    assert ("metadata.ownerReferences", "FieldValueInvalid") in faults(
        "Pod", {"name": "a", "ownerReferences": owners}
    )


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=70))
def test_any_text_is_judged_and_a_label_is_always_a_subdomain(text: str) -> None:
    names.qualified_fault(text)
    names.label_value_fault(text)
    if not names.label_fault(text):
        assert not names.subdomain_fault(text)


def test_an_event_may_be_named_after_anything_that_is_a_part_of_a_path() -> None:
    assert not names.validate_metadata("Event", {"generateName": "a.", "name": "a.gzqx2"})
    assert [cause.field for cause in names.validate_metadata("Event", {"name": "a/b"})] == ["metadata.name"]
