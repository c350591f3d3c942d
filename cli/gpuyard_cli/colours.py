"""Colours for people who look: what to read first, what is wrong, what would help.

Law: only on a terminal, and only in addition: without colours every word is the same. NO_COLOR is heeded.
"""

import os
import re
from typing import Final, TextIO

from gpuyard.verdicts import Reason

BOLD, DIM, RED, GREEN, CYAN = "1", "2", "31", "32", "36"
_HEADS: Final = re.compile(r" *[A-Z]+(?: +[A-Z]+)+")
_HELP: Final = re.compile(r" +(?:to change: |- ).*")
_CODES: Final = re.compile(rf"\b(?:{'|'.join(reason.value for reason in Reason)})\b")


def wanted(out: TextIO) -> bool:
    """Whether somebody looks who has not said that they want none."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(code: str, text: str) -> str:
    """The text in a colour."""
    return f"\x1b[{code}m{text}\x1b[0m"


def answer(text: str) -> str:
    """A command's answer: its first line, heads of tables, reason codes and remedies stand out."""
    first, *rest = text.split("\n")
    return "\n".join([paint(BOLD, _with_codes(first)), *map(_line, rest)])


def _line(line: str) -> str:
    if _HEADS.fullmatch(line):
        return paint(DIM, line)
    return paint(GREEN, line) if _HELP.fullmatch(line) else _with_codes(line)


def _with_codes(line: str) -> str:
    """Reason codes in red; what is bold around them stays bold."""
    return _CODES.sub(lambda found: f"\x1b[{RED}m{found[0]}\x1b[39m", line)
