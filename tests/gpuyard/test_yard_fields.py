from collections.abc import Callable
from typing import Any

import pytest

from gpuyard import yard_fields
from gpuyard.yard_fields import InvalidYardError


def test_good_values_are_given_back() -> None:
    assert yard_fields.mapping({"a": 1}, "f", ("a", "b"), ("a",)) == {"a": 1}
    assert yard_fields.mapping(None, "f", ()) == yard_fields.plain_mapping(None, "f") == {}
    assert yard_fields.sequence([1], "f") == [1]
    assert yard_fields.sequence(None, "f") == []
    assert yard_fields.text("x", "f") == "x"
    assert yard_fields.whole(0, "f") == 0
    assert yard_fields.quantity(64, "f") == "64"
    assert yard_fields.quantity("512Gi", "f") == "512Gi"


@pytest.mark.parametrize(
    ("read", "bad"),
    [
        (yard_fields.plain_mapping, [1]),
        (yard_fields.plain_mapping, {1: 2}),
        (yard_fields.sequence, {"a": 1}),
        (yard_fields.text, ""),
        (yard_fields.text, 5),
        (yard_fields.whole, -1),
        (yard_fields.whole, 1.0),
        (yard_fields.whole, True),
        (yard_fields.whole, "1"),
        (yard_fields.quantity, "many"),
        (yard_fields.quantity, "-1Gi"),
        (yard_fields.quantity, True),
        (yard_fields.quantity, None),
    ],
)
def test_a_bad_value_names_its_field_and_the_remedy(read: Callable[[Any, str], Any], bad: object) -> None:
    with pytest.raises(InvalidYardError, match=r"^nodes\[0\]\.x: .+; .+") as caught:
        read(bad, "nodes[0].x")
    assert caught.value.field == "nodes[0].x"
    assert caught.value.problem
    assert caught.value.remedy


def test_unknown_and_missing_keys_are_named() -> None:
    with pytest.raises(InvalidYardError, match=r"^f\.c: unknown key; use a, b$"):
        yard_fields.mapping({"c": 1}, "f", ("b", "a"))
    with pytest.raises(InvalidYardError, match=r"^f\.a: is missing; add it$"):
        yard_fields.mapping({"a": None}, "f", ("a",), ("a",))
