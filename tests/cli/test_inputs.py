"""A file that cannot be used is refused in one line that names file, field and remedy."""

from pathlib import Path
from typing import Any

import pytest

from gpuyard_cli.inputs import Fields, InvalidInputError, documents


def fields(**content: Any) -> Fields:
    return Fields("yard.yaml", "nodes[0]", content)


def refused(fields: Fields, kind: str, name: str) -> str:
    with pytest.raises(InvalidInputError) as found:
        getattr(fields, kind)(name)
    return str(found.value)


def test_documents_of_a_file_leave_out_empty_ones(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("---\na: 1\n---\n---\nb: 2\n")
    assert documents(tmp_path / "a.yaml") == [{"a": 1}, {"b": 2}]


def test_what_cannot_be_read_is_refused_with_file_place_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [1,\nb: 2\n")
    with pytest.raises(InvalidInputError, match=r"/a\.yaml: line 3: .+; write valid YAML$"):
        documents(tmp_path / "a.yaml")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="absent.yaml: No such file or directory; give a file"):
        documents(tmp_path / "absent.yaml")


def test_fields_are_read_by_kind() -> None:
    found = fields(a="text", b=3, c=["x"], d={"k": 1}, e={"k": ["y"]}, f={"g": "h"})
    assert found.text("a") == "text"
    assert found.whole("b") == 3
    assert found.texts("c") == ("x",)
    assert found.mapping("d") == {"k": 1}
    assert found.text_lists("e") == {"k": ("y",)}
    inner = found.fields("f")
    assert inner is not None
    assert inner.text("g") == "h"
    found.end(())


def test_what_is_absent_is_empty_or_its_default() -> None:
    found = fields()
    assert found.text("a", "x") == "x"
    assert found.whole("b") is None
    assert found.texts("c") == ()
    assert found.mapping("d") == {}
    assert found.fields("e") is None
    assert found.take("f") is None


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("text", 3, 'nodes[0].x: 3 is not a text; write it in quotes: x: "..."'),
        ("text", None, "nodes[0].x: a text is needed; set x"),
        ("whole", -1, "nodes[0].x: -1 is not a whole number; give 0 or more"),
        ("whole", 0.5, "nodes[0].x: 0.5 is not a whole number; give 0 or more"),
        ("whole", True, "nodes[0].x: True is not a whole number; give 0 or more"),
        ("texts", "a", 'nodes[0].x: \'a\' is not a list of texts; write ["first", "second"], in quotes'),
        ("texts", [1], 'nodes[0].x: [1] is not a list of texts; write ["first", "second"], in quotes'),
        ("mapping", [1], "nodes[0].x: [1] is not a mapping; write fields with values"),
        (
            "text_lists",
            {"k": 4},
            'nodes[0].x.k: 4 is not a list of texts; write ["first", "second"], in quotes',
        ),
        ("fields", "a", "nodes[0].x: 'a' is not a mapping; write fields with values"),
    ],
)
def test_a_value_of_another_kind_is_refused(kind: str, value: Any, said: str) -> None:
    assert refused(fields(x=value), kind, "x") == f"yard.yaml: {said}"


def test_a_field_that_nobody_read_is_refused() -> None:
    with pytest.raises(
        InvalidInputError, match=r"yard.yaml: nodes\[0\].gpuz: unknown field; known ones are gpus"
    ):
        fields(gpuz=1).end(("gpus",))
