from typing import Any

from gpuyard_cluster.apiserver.custom.schema_values import default, prune

INNER = {"type": "object", "default": {}, "properties": {"seconds": {"type": "integer", "default": 60}}}
FREE = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {"known": {"type": "object"}},
}
SPEC = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "default": 2},
        "timeout": INNER,
        "free": FREE,
        "list": {"type": "array", "items": INNER},
        "map": {"type": "object", "additionalProperties": INNER},
        "any": {"type": "object", "additionalProperties": True},
        "template": {"type": "object", "x-kubernetes-embedded-resource": True},
    },
}
ROOT = {"type": "object", "properties": {"spec": SPEC}}


def test_unknown_fields_go_and_are_told() -> None:
    obj: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
        "junk": 1,
        "spec": {
            "junk": 1,
            "timeout": {"junk": 1, "seconds": 1},
            "free": {"kept": {"deep": 1}, "known": {"junk": 1}},
            "list": [{"junk": 1}],
            "map": {"k": {"junk": 1}},
            "any": {"kept": {"deep": 1}},
            "template": {"kind": "Pod", "metadata": {"name": "p"}, "junk": 1},
        },
    }
    assert set(prune(obj, ROOT, "", resource=True)) == {
        "junk",
        "spec.junk",
        "spec.timeout.junk",
        "spec.free.known.junk",
        "spec.list[0].junk",
        "spec.map.k.junk",
        "spec.template.junk",
    }
    assert obj["spec"] == {
        "timeout": {"seconds": 1},
        "free": {"kept": {"deep": 1}, "known": {}},
        "list": [{}],
        "map": {"k": {}},
        "any": {"kept": {"deep": 1}},
        "template": {"kind": "Pod", "metadata": {"name": "p"}},
    }
    assert obj["metadata"] == {"name": "a"}


def test_defaults_reach_into_objects_lists_and_maps() -> None:
    obj: dict[str, Any] = {"spec": {"size": None, "list": [{}], "map": {"k": {}}}}
    default(obj, ROOT)
    seconds = {"seconds": 60}
    assert obj["spec"] == {"size": 2, "timeout": seconds, "list": [seconds], "map": {"k": seconds}}


def test_two_objects_share_no_default() -> None:
    first: dict[str, Any] = {"spec": {}}
    second: dict[str, Any] = {"spec": {}}
    default(first, ROOT)
    first["spec"]["timeout"]["seconds"] = 1
    default(second, ROOT)
    assert second["spec"]["timeout"] == {"seconds": 60}
