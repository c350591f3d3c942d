"""The first field of a stranger's object that is of another shape is named."""

import pytest

from gpuyard import shapes
from gpuyard.shapes import Shape

SHAPES = {"metadata": Shape.OBJECT, "metadata.labels": Shape.TEXTS, "spec.taints": Shape.LIST}


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        (7, ": an object is needed"),
        ({"metadata": []}, ".metadata: an object is needed"),
        ({"metadata": {"labels": {"a": 1}}}, ".metadata.labels: an object of texts is needed"),
        ({"spec": {"taints": [{}, 7]}}, ".spec.taints: a list of objects is needed"),
        ({"metadata": {"labels": None}, "spec": 7}, ""),
        ({"metadata": {"labels": {"a": "b"}}, "spec": {"taints": [{}]}}, ""),
    ],
)
def test_a_field_of_another_shape_is_named_and_what_is_absent_is_fine(obj: object, said: str) -> None:
    assert shapes.fault(obj, SHAPES) == said


@pytest.mark.parametrize(
    ("name", "fits"),
    [("node-1.x", True), ("a/../b", False), ("A", False), ("-a", False), ("a..b", False), ("a" * 254, False)],
)
def test_a_name_leads_nowhere_else(name: str, fits: bool) -> None:
    assert bool(shapes.NAME.fullmatch(name)) is fits


@pytest.mark.parametrize(
    ("key", "value", "fit"),
    [
        ("rack", "r1", (True, True)),
        ("example.com/Zone_a.b", "", (True, True)),
        ("a b", "c d", (False, False)),
        ("/x", "-x", (False, False)),
        ("Example.com/x", "x" * 64, (False, False)),
        ("", "a/b", (False, False)),
    ],
)
def test_keys_and_values_of_labels_are_those_that_kubernetes_takes(
    key: str, value: str, fit: tuple[bool, bool]
) -> None:
    assert (shapes.is_key(key), shapes.is_label_value(value)) == fit
