from typing import Any

from gpuyard_cluster.apiserver.custom.schemas import Schema


def schema(**spec: Any) -> Schema:
    properties = {"low": {"type": "integer"}, "high": {"type": "integer", "default": 9}}
    part = {"type": "object", "properties": properties, "required": ["low"], **spec}
    return Schema({"type": "object", "properties": {"spec": part}})


ORDERED = {
    "x-kubernetes-validations": [{"rule": "self.low <= self.high", "message": "low must not exceed high"}]
}


def test_an_object_is_pruned_filled_in_and_judged() -> None:
    obj: dict[str, Any] = {"kind": "Widget", "metadata": {"name": "a"}, "spec": {"low": 1, "junk": 2}}
    assert schema().prune(obj) == ["spec.junk"]
    schema().default(obj)
    assert obj["spec"] == {"low": 1, "high": 9}
    assert not schema(**ORDERED).validate(obj)


def test_rules_are_checked_once_the_types_are_right() -> None:
    (cause,) = schema(**ORDERED).validate({"spec": {"low": 2, "high": 1}})
    assert (cause.field, cause.message) == (
        "spec",
        'Invalid value: {"high":1,"low":2}: low must not exceed high',
    )
    wrong, unchecked = schema(**ORDERED).validate({"spec": {"low": "2", "high": 1}})
    assert (wrong.field, unchecked.field) == ("spec.low", "<nil>")
    assert "some validation rules were not checked" in unchecked.message


def test_a_change_is_judged_against_what_was() -> None:
    fixed = schema(**{"x-kubernetes-validations": [{"rule": "self.low == oldSelf.low"}]})
    old = {"spec": {"low": 1}}
    assert not fixed.validate({"spec": {"low": 2}})
    assert fixed.validate({"spec": {"low": 2}}, old)
    assert not fixed.validate({"spec": {"low": 1, "high": 2}}, old)
