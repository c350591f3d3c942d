from typing import Any

from gpuyard_cluster.apiserver.custom.schema_rules import ABSENT, broken_rules, definition_faults, has_rules

IMMUTABLE = {
    "type": "string",
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is immutable"}],
}
ITEM = {"type": "object", "properties": {"k": {"type": "string"}, "v": IMMUTABLE}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": IMMUTABLE,
        "low": {"type": "integer"},
        "items": {
            "type": "array",
            "items": ITEM,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
        },
        "plain": {"type": "array", "items": IMMUTABLE},
        "map": {"type": "object", "additionalProperties": IMMUTABLE},
    },
    "x-kubernetes-validations": [
        {
            "rule": "!has(self.low) || self.low < 5",
            "messageExpression": "'low is ' + string(self.low)",
            "reason": "FieldValueForbidden",
            "fieldPath": ".low",
        }
    ],
}


def broken(value: Any, old: Any = ABSENT) -> dict[str, str]:
    return {cause.field: cause.message for cause in broken_rules(value, old, SCHEMA, "spec")}


def test_a_broken_rule_tells_its_message_at_its_field() -> None:
    (cause,) = broken_rules({"low": 7}, ABSENT, SCHEMA, "spec")
    assert (cause.field, cause.reason) == ("spec.low", "FieldValueForbidden")
    assert cause.message.endswith("low is 7")


def test_old_items_are_found_by_key() -> None:
    old = {"items": [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}], "map": {"m": "1"}, "plain": ["1"]}
    moved = {
        "items": [{"k": "b", "v": "2"}, {"k": "a", "v": "9"}],
        "map": {"m": "9", "n": "1"},
        "plain": ["9"],
    }
    assert set(broken(moved, old)) == {"spec.items[1].v", "spec.map.m"}


def test_a_rule_that_errs_is_broken() -> None:
    schema = {"type": "object", "x-kubernetes-validations": [{"rule": "self.missing == 1"}]}
    (cause,) = broken_rules({}, ABSENT, schema, "spec")
    assert "no such member in mapping" in cause.message
    default = {"type": "integer", "x-kubernetes-validations": [{"rule": "self == 1"}]}
    (cause,) = broken_rules(2, ABSENT, default, "spec")
    assert cause.message == "Invalid value: 2: failed rule: self == 1"


def test_a_rule_that_cannot_be_compiled_is_told_by_field() -> None:
    rules = [
        {"rule": "self.frob()"},
        {"rule": "true", "messageExpression": "1 +"},
        {"rule": "", "optionalOldSelf": True},
    ]
    schema = {"properties": {"a": {"x-kubernetes-validations": rules}}}
    assert has_rules(schema)
    assert not has_rules({"properties": {"a": {}}})
    path = "s.properties[a].x-kubernetes-validations"
    found = {cause.field for cause in definition_faults(schema, "s")}
    assert {f"{path}[0].rule", f"{path}[1].messageExpression", f"{path}[2].optionalOldSelf"} <= found
