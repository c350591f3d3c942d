"""Files that people write: read as kubectl reads them, or refused with place and remedy."""

from pathlib import Path

import pytest

from gpuyard_kube import documents
from gpuyard_kube.documents import InvalidDocumentError


def refused(content: bytes, folder: Path) -> InvalidDocumentError:
    (folder / "a.yaml").write_bytes(content)
    with pytest.raises(InvalidDocumentError) as found:
        documents.read(folder / "a.yaml")
    assert "\n" not in str(found.value)
    return found.value


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a: [1,\nb: 2\n", "line 3"),
        (b"[" * 1000, "line 2"),
        (b"a: \xff\n", ""),
        (b"when: !!timestamp 2024-99-99\n", ""),
        (b"when: !!timestamp x\n", ""),
        (b"a: !!int ''\n", ""),
        (b"a: !!bool maybe\n", ""),
        (b"!!python/object:os.system {}\n", "line 1"),
    ],
)
def test_what_is_not_yaml_is_refused(tmp_path: Path, content: bytes, place: str) -> None:
    fault = refused(content, tmp_path)
    assert (fault.place, fault.remedy) == (place, "write valid YAML")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a: &a [*a]", "a.0.0"),
        ("a: [{b: {1: 2}}]", "a.0.b: Dict key must be str"),
        ("a: !!binary aGVsbG8=", "a: Type is not JSON serializable: bytes"),
        ("a: {b: !!set {c}}", "a.b: Type is not JSON serializable: set"),
        ("a: 99999999999999999999999", "a: Integer exceeds 64-bit range"),
    ],
)
def test_what_no_json_can_say_is_refused_by_its_place(tmp_path: Path, content: str, problem: str) -> None:
    text = str(refused(content.encode(), tmp_path))
    assert text.startswith(problem)
    assert text.endswith("; write only mappings with texts as keys, lists, texts, numbers, true and false")


@pytest.mark.parametrize("kind", ["list", "mapping"])
def test_a_file_that_aliases_make_endless_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    line = "[{}]" if kind == "list" else "{{a: {}}}"
    lines = ["x0: &x0 [1]"]
    for number in range(1, 40):
        pair = f"*x{number - 1}, *x{number - 1}" if kind == "list" else f"[*x{number - 1}, *x{number - 1}]"
        lines.append(f"x{number}: &x{number} {line.format(pair)}")
    assert "it has more than 10000000 values" in str(refused("\n".join(lines).encode(), tmp_path))


@pytest.mark.parametrize(
    ("content", "line", "key", "first"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a", 1),
        ("a: 1\n---\nb:\n- c: 1\n  'c': 2\n", 5, "c", 4),
        ("a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", 4, "<<", 3),
        ("a: &a\n  x: 1\n  x: 2\nb: *a\n", 3, "x", 2),
        ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3, "c", 2),
        ('{"a": 1, "\\u0061": 1}', 1, "a", 1),
        ('{"\\u0022": 1,\n "\\"": 1}', 2, '"', 1),
    ],
)
def test_a_key_that_stands_twice_is_refused_by_name_and_line(
    tmp_path: Path, content: str, line: int, key: str, first: int
) -> None:
    said = f"line {line}: the key {key!r} stands twice, first in line {first}; remove one of them"
    assert str(refused(content.encode(), tmp_path)) == said


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (
            "a: &a {cpu: 1, gpu: 1}\nb: &b {<<: *a, cpu: 2}\nc: {<<: *b, gpu: 3}\n",
            {"a": {"cpu": 1, "gpu": 1}, "b": {"cpu": 2, "gpu": 1}, "c": {"cpu": 2, "gpu": 3}},
        ),
        ("- {a: 1}\n- {a: 2}\n", [{"a": 1}, {"a": 2}]),
        ('{"a": "\\u0022", "b": "a", "c": {"a": "\\"a"}}', {"a": '"', "b": "a", "c": {"a": '"a'}}),
    ],
)
def test_a_key_may_stand_in_several_places_and_go_before_a_merged_one(content: str, read: object) -> None:
    assert documents.parsed(content) == [read]


def test_what_looks_like_a_date_is_a_text_as_for_kubectl() -> None:
    found = documents.parsed("when: 2024-01-01\nnumber: 010\nright: yes\n")
    assert found == [{"when": "2024-01-01", "number": 8, "right": True}]


def test_the_only_document_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for content, read in (("", None), ("---\n---\na: 1\n", {"a": 1}), ('{"a": 1}', {"a": 1}), ("null", None)):
        file.write_text(content)
        assert documents.only(file) == read
    file.write_text("a: 1\n---\nb: 1\n")
    with pytest.raises(InvalidDocumentError, match="^2 documents; write exactly one YAML document"):
        documents.only(file)
