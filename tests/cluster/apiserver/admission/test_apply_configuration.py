from typing import Any

import pytest

from gpuyard_cluster.apiserver.admission.apply_configuration import compile_literal, merge
from gpuyard_cluster.apiserver.admission.cel import Failure
from gpuyard_cluster.apiserver.changes import shapes

OBJECT = frozenset({"object"})
GATE = 'Object{spec: Object.spec{schedulingGates: [Object.spec.schedulingGates{name: "x/gang"}]}}'


def built(text: str, obj: dict[str, Any]) -> Any:
    builder = compile_literal(text, OBJECT)
    assert not isinstance(builder, Failure), builder
    return builder({"object": obj})


def applied(text: str, obj: dict[str, Any]) -> Any:
    pod = shapes.of_kind("v1", "Pod")
    assert pod is not None
    return merge(obj, built(text, obj), pod)


def test_an_object_literal_becomes_json() -> None:
    assert built(GATE, {}) == {"spec": {"schedulingGates": [{"name": "x/gang"}]}}
    text = 'Object{metadata: Object.metadata{labels: {"a": object.x + "!", "n": string(1)}}, spec: Object.spec{}}'
    assert built(text, {"x": "b"}) == {"metadata": {"labels": {"a": "b!", "n": "1"}}, "spec": {}}


def test_a_gate_is_added_to_foreign_ones_and_never_doubled() -> None:
    assert applied(GATE, {"spec": {}})["spec"]["schedulingGates"] == [{"name": "x/gang"}]
    foreign = {"spec": {"schedulingGates": [{"name": "y"}]}}
    once = applied(GATE, foreign)
    assert once["spec"]["schedulingGates"] == [{"name": "y"}, {"name": "x/gang"}]
    assert applied(GATE, once) == once
    assert foreign == {"spec": {"schedulingGates": [{"name": "y"}]}}, "the original is left alone"


def test_maps_merge_key_by_key() -> None:
    text = 'Object{metadata: Object.metadata{annotations: {"b": "2"}}}'
    merged = applied(text, {"metadata": {"annotations": {"a": "1"}}})
    assert merged["metadata"]["annotations"] == {"a": "1", "b": "2"}


def test_what_has_one_owner_cannot_be_set_in_part() -> None:
    text = 'Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "a"}]}}'
    failure = applied(text, {"spec": {}})
    assert isinstance(failure, Failure)
    assert failure.message.endswith("may not mutate atomic arrays, maps or structs: .spec.tolerations")


def test_a_leaf_that_errs_makes_the_whole_fail() -> None:
    assert isinstance(built("Object{spec: Object.spec{nodeName: object.missing}}", {}), Failure)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("object.spec", "must be an object literal"),
        ("has(object.x) ? Object{} : Object{}", "must be an object literal"),
        ("Object{spec: Object.status{}}", "type Object.status stands where Object.spec belongs"),
        ("Object{spec: Thing{}}", "type Thing stands where Object.spec belongs"),
        ("Object{a: true ? Object.a{} : Object.a{}}", "undeclared reference to 'Object'"),
        ("Object{a: frob(1)}", "undeclared reference to 'frob'"),
        ("Object{a: }", "Syntax error"),
    ],
)
def test_other_forms_are_refused_when_compiled(text: str, words: str) -> None:
    failure = compile_literal(text, OBJECT)
    assert isinstance(failure, Failure)
    assert words in failure.message
