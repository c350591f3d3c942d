"""Translated documents, and what of them is older than its English text.

Below each heading of a translation stands, as a comment, a digest of the English section that it says. After
translating what changed: `.venv/bin/python -m tests.docs.translations`, which writes these comments anew.
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from tests.docs.markdown import ROOT, Section, read

PAIRS = {"README.md": "README.zh-CN.md", "docs/tutorial.md": "docs/tutorial.zh-CN.md"}
NOTE = re.compile(r"<!-- en: (\w+) -->")
_REMARK = re.compile(r"(^|\s+)# .*")
"""A shell comment: the part of a code block that is translated."""


def differences(english: Path, chinese: Path) -> Iterator[str]:
    """What the translation says that is not in the English text, or does not say, or says of an older text."""
    for ours, theirs in zip_longest(read(english), read(chinese)):
        if ours is None or theirs is None or ours.level != theirs.level:
            yield f"{_title(ours)!r} stands where the translation has {_title(theirs)!r}"
            return
        for what, here, there in _compared(ours, theirs):
            if here != there:
                yield f"{ours.title}: {what}: {here} became {there}"
        if noted(theirs) != digest(ours):
            yield f"{ours.title}: changed since {theirs.title} was translated"


def digest(section: Section) -> str:
    """Of the words: where lines end does not matter."""
    words = " ".join([section.heading, *section.lines]).split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]


def noted(section: Section) -> str:
    """The digest of the English section that was translated."""
    found = [found[1] for line in section.lines if (found := NOTE.fullmatch(line))]
    return found[0] if found else ""


def noting(english: list[Section], chinese: list[Section]) -> str:
    """The translation with the digests of the English text as it is."""
    parts = []
    for ours, theirs in zip(english, chinese, strict=True):
        lines = [line for line in theirs.lines if not NOTE.fullmatch(line)]
        parts += [theirs.heading, f"<!-- en: {digest(ours)} -->", *lines]
    return "\n".join(parts) + "\n"


def _compared(ours: Section, theirs: Section) -> Iterator[tuple[str, list[str], list[str]]]:
    yield "code", _commands(ours), _commands(theirs)
    yield "links", sorted(_targets(ours)), sorted(_targets(theirs))
    yield "names", sorted(set(ours.spans)), sorted(set(theirs.spans))


def _commands(section: Section) -> list[str]:
    return [kept for line in section.code if (kept := _REMARK.sub("", line).strip())]


def _targets(section: Section) -> Iterator[str]:
    """A translation may lead to translations; headings are called otherwise there."""
    for _text, target in section.links:
        yield target.partition("#")[0].replace(".zh-CN.md", ".md")


def _title(section: Section | None) -> str:
    return section.heading if section else "nothing"


if __name__ == "__main__":
    for name, translated in PAIRS.items():
        (ROOT / translated).write_text(noting(read(ROOT / name), read(ROOT / translated)), "utf-8")
