from typing import Any

from gpuyard_cluster.apiserver.custom.schemas import Schema


def schema(**spec: Any) -> Schema:
    properties = {"low": {"type": "integer"}, "high": {"type": "integer", "default": 9}}
    part = {"type": "object", "properties": properties, "required": ["low"], **spec}
    return Schema({"type": "object", "properties": {"spec": part}})


ORDERED = {
    "x-kubernetes-validations": [{"rule": "self.low <= self.high", "message": "low must not exceed high"}]
}


def test_rules_are_checked_once_the_types_are_right() -> None:
    (cause,) = schema(**ORDERED).validate({"spec": {"low": 2, "high": 1}})
    assert (cause.field, cause.message) == (
        "spec",
        'Invalid value: {"high":1,"low":2}: low must not exceed high',
    )
    wrong, unchecked = schema(**ORDERED).validate({"spec": {"low": "2", "high": 1}})
    assert (wrong.field, unchecked.field) == ("spec.low", "<nil>")
    assert "some validation rules were not checked" in unchecked.message
