"""The pages of docs/reference say what the code says."""

from tests.docs import reference
from tests.docs.markdown import read


def test_no_page_is_stale() -> None:
    assert reference.stale() == [], "write them anew: .venv/bin/python -m tests.docs.reference"


def test_no_page_is_left_of_something_that_is_gone() -> None:
    assert {path.name for path in reference.FOLDER.glob("*")} == set(reference.PAGES)


def test_every_name_of_the_vocabulary_is_described() -> None:
    rows = [line for line in reference.names() if line.startswith("| `")]
    assert len(rows) > 30
    assert [row for row in rows if row.endswith("| |")] == []


def test_every_command_is_there_with_its_arguments() -> None:
    found = {section.title: section.prose for section in read(reference.FOLDER / "commands.md")}
    assert {
        "`gpuyard run`",
        "`gpuyard fault link`",
        "`gpuyard-extender`",
        "`gpuyard-operator`",
    } <= found.keys()
    assert "`--step`" in found["`gpuyard run`"]
