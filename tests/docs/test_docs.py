"""The documents tell the truth: links lead somewhere, names exist, transcripts are what is printed."""

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from gpuyard_cli import commands
from gpuyard_cli import main as command
from tests.docs.markdown import ROOT, Section, anchors, documents, fences, read

FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"dist"}
"""What is made stands in `dist`, once it is made."""
PROMPT = "$ .venv/bin/gpuyard "
LEFT_OUT = "..."
PATH = re.compile(r"[\w.-]+(/[\w.*-]+)+/?")
NAME = re.compile(r"`((?![\w.]+\.py`)[\w.]+)`")
NEVER = {"operator/__init__.py"}
"""It would hide the standard library's module: documents name it to say so."""


def everywhere() -> Iterator[tuple[Path, Section]]:
    for path in documents():
        for section in read(path):
            yield path, section


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- links and names


def leads_nowhere(path: Path, target: str) -> bool:
    if target.startswith(("http://", "https://")):
        return False
    name, _, anchor = target.partition("#")
    found = path.parent / name if name else path
    return not found.exists() or bool(anchor and found.suffix == ".md" and anchor not in anchors(found))


def test_every_link_leads_somewhere() -> None:
    lost = [
        f"{named(path)}: {target}"
        for path, section in everywhere()
        for _text, target in section.links
        if leads_nowhere(path, target)
    ]
    assert lost == []


def test_a_link_to_nothing_is_seen() -> None:
    assert [
        leads_nowhere(ROOT / "README.md", target) for target in ("no.md", "#no-such", "README.md#no")
    ] == [True] * 3
    assert not leads_nowhere(ROOT / "docs/tutorial.md", "../README.md#the-parts")


def test_every_path_of_the_repository_that_is_named_exists() -> None:
    """Words in capitals stand for what the reader fills in."""
    paths = {
        (path, span)
        for path, section in everywhere()
        for span in section.spans
        if PATH.fullmatch(span) and span.split("/")[0] in FOLDERS and not re.search(r"\b[A-Z]{2,}\b", span)
    }
    lost = {
        f"{named(path)}: {span}"
        for path, span in paths
        if span not in NEVER and not any(ROOT.glob(span.removesuffix("/")))
    }
    assert len(paths) > 20
    assert lost == set()


def defines(path: Path, names: Sequence[str]) -> bool:
    """Whether a module defines a function, or a class with a method."""
    body: list[ast.stmt] = ast.parse(path.read_text("utf-8")).body
    for name in names:
        found = [
            node
            for node in body
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
        ]
        if not found:
            return False
        body = found[0].body
    return True


def test_every_function_that_a_link_names_is_in_the_module_that_it_leads_to() -> None:
    linked = [
        (path.parent / target, found[1].split("."))
        for path, section in everywhere()
        for text, target in section.links
        if target.endswith(".py") and (found := NAME.fullmatch(text))
    ]
    lost = [
        f"{named(module.resolve())}: {'.'.join(names)}"
        for module, names in linked
        if not defines(module, names[1:] if names[0] == module.stem else names)
    ]
    assert len(linked) > 20
    assert lost == []


# --- what is shown is what is printed


def transcripts() -> Iterator[tuple[str, list[str]]]:
    """The commands of fenced transcripts, each with the lines that follow it."""
    for _path, section in everywhere():
        for block in fences(section):
            if block and block[0].startswith(PROMPT) and "--on steps" in block[0]:
                yield block[0].removeprefix(PROMPT), block[1:]


def test_transcripts_on_the_stepped_cluster_are_what_it_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown = dict[str, list[list[str]]]()
    for line, lines in transcripts():
        shown.setdefault(line, []).append(lines)
    assert shown
    for line, excerpts in shown.items():
        command.main(shlex.split(line))
        printed = capsys.readouterr().out.splitlines()
        for excerpt in excerpts:
            assert differing(excerpt, printed) == []


def differing(excerpt: list[str], printed: list[str]) -> list[str]:
    """The first lines, between two marks of what was left out, that were not printed in this order."""
    at, rest = 0, excerpt
    while rest:
        end = rest.index(LEFT_OUT) if LEFT_OUT in rest else len(rest)
        part, after = rest[:end], rest[end + 1 :]
        skipped = rest is not excerpt
        places = range(at, len(printed) + 1) if skipped else [at]
        found = [place for place in places if printed[place : place + len(part)] == part]
        if not found:
            return part
        at, rest = found[0] + len(part), after
    return [] if at == len(printed) or excerpt[-1:] == [LEFT_OUT] else printed[at:]


@pytest.mark.parametrize(
    ("excerpt", "wrong"),
    [
        ("a b c d", ""),
        ("a ... d", ""),
        ("... b c ...", ""),
        ("a b", "c d"),
        ("b c d", "b c d"),
        ("... c b ...", "c b"),
        ("a ... c ... b ...", "b"),
    ],
)
def test_an_excerpt_may_leave_lines_out_and_nothing_else(excerpt: str, wrong: str) -> None:
    assert differing(excerpt.split(), ["a", "b", "c", "d"]) == wrong.split()


def typed_commands() -> Iterator[tuple[Path, list[str]]]:
    """What code blocks have people type after `gpuyard`, up to what the shell does with it.

    Words in capitals stand for a name that the reader fills in.
    """
    for path, section in everywhere():
        for line in "\n".join(section.code).replace("\\\n", " ").splitlines():
            if line.lstrip(" >.").startswith(("from ", "import ")):  # Python
                continue
            for typed in re.findall(r"(?:^|\s)(?:\.venv/bin/)?gpuyard ([a-z].*)", line):
                words = shlex.split(re.split(r" (?:[|>&]|&&) ?", typed)[0], comments=True)
                yield path, [word.lower() if word.isupper() else word for word in words]


def test_every_command_in_the_documents_is_one_that_gpuyard_knows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser, unknown = commands.parser(), []
    for path, words in typed_commands():
        try:
            parser.parse_args(words)
        except SystemExit as ended:
            if ended.code:
                unknown.append(f"{named(path)}: gpuyard {' '.join(words)}: {capsys.readouterr().err}")
    assert unknown == []


# --- the index


def test_the_index_leads_to_every_document_of_its_folder() -> None:
    folder = ROOT / "docs"
    linked = {
        (folder / target).resolve()
        for section in read(folder / "README.md")
        for _text, target in section.links
    }
    there = {path for path in documents() if folder in path.parents and path.name != "README.md"}
    assert {named(path) for path in there - linked} == set()


def test_every_example_is_on_the_list_by_its_title() -> None:
    page = ROOT / "examples" / "README.md"
    listed = {target: text for section in read(page) for text, target in section.links}
    pages = (ROOT / "examples").glob("*/README.md")
    titles = {f"{found.parent.name}/README.md": found.read_text().splitlines()[0][2:] for found in pages}
    assert listed == titles


@pytest.mark.parametrize(
    ("page", "package", "which"),
    [
        ("README.md", "gpuyard", "*"),
        ("cli/README.md", "cli/gpuyard_cli", "*"),
        ("extender/README.md", "extender/gpuyard_extender", "*"),
        ("extender/README.md", "extender/gpuyard_extender", "*/*"),
        ("operator/README.md", "operator/gpuyard_operator", "*"),
        ("operator/README.md", "operator/gpuyard_operator", "*/*"),
        ("replay/README.md", "replay/gpuyard_replay", "*"),
    ],
)
def test_a_newcomer_finds_every_module_on_the_map(page: str, package: str, which: str) -> None:
    spans = re.findall(r"`([\w*]+)(?:\.py|/)?`", (ROOT / page).read_text())
    modules = {path.stem for path in (ROOT / package).glob(which) if path.suffix == ".py" or path.is_dir()}
    names = {name for name in modules if not name.startswith("__")} - {"data", "ui", "static"}
    assert {name for name in names if not any(fnmatch(name, span) for span in spans)} == set()
