"""Markdown, as far as tests look at it: sections, code and links, in the forms that these documents use."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_HEADING = re.compile(r"(#+) +(.*)")
_LINK = re.compile(r"\[([^][]*)\]\(([^()\s]+)\)")
_SPAN = re.compile(r"`([^`]+)`")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, or nothing above the first one, and the lines below it."""

    heading: str
    lines: tuple[str, ...]

    @property
    def level(self) -> int:
        return len(self.heading) - len(self.heading.lstrip("#"))

    @property
    def title(self) -> str:
        return self.heading.lstrip("# ")

    @property
    def prose(self) -> str:
        """All but code blocks and comments."""
        return _COMMENT.sub("", "\n".join(line for is_code, line in _parts(self.lines) if not is_code))

    @property
    def code(self) -> tuple[str, ...]:
        """The lines of all code blocks, fences included."""
        return tuple(line for is_code, line in _parts(self.lines) if is_code)

    @property
    def spans(self) -> list[str]:
        """What stands in `backquotes`."""
        return [" ".join(span.split()) for span in _SPAN.findall(self.prose)]

    @property
    def links(self) -> list[tuple[str, str]]:
        """The text and the target of each link."""
        return _LINK.findall(self.prose)


def documents() -> list[Path]:
    """Every Markdown file of the repository; not those of tools, which live in hidden folders, nor what is built."""
    folders = (path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    below = (path for folder in folders if folder.name != "dist" for path in folder.rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *below])


def sections(text: str) -> list[Section]:
    """The document in parts, each heading with what is below it."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for is_code, line in _parts(text.splitlines()):
        if not is_code and _HEADING.fullmatch(line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return [Section(heading, tuple(lines)) for heading, lines in found if heading or any(lines)]


def read(path: Path) -> list[Section]:
    return sections(path.read_text("utf-8"))


def anchors(path: Path) -> set[str]:
    """The names by which a link reaches the headings of a file."""
    titles = (section.title.lower() for section in read(path) if section.heading)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def fences(section: Section) -> Iterator[list[str]]:
    """The fenced blocks, one after the other, without their fences."""
    block: list[str] | None = None
    for line in section.code:
        if line.startswith("```"):
            if block is not None:
                yield block
            block = [] if block is None else None
        elif block is not None:
            block.append(line)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |".replace("  |", " |")


def _parts(lines: list[str] | tuple[str, ...]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is of a code block: fenced, or indented by four."""
    fenced = False
    for line in lines:
        edge = line.startswith("```")
        yield fenced or edge or line.startswith("    "), line
        fenced ^= edge
