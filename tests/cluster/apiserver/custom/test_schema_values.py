from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

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


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SPEC["properties"], "x"]), inner)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=50)
@given(st.fixed_dictionaries({"spec": VALUES}))
def test_whatever_comes_pruning_and_defaulting_twice_changes_nothing_more(obj: dict[str, Any]) -> None:
    prune(obj, ROOT, "", resource=True)
    default(obj, ROOT)
    once = repr(obj)
    assert prune(obj, ROOT, "", resource=True) == []
    default(obj, ROOT)
    assert repr(obj) == once
