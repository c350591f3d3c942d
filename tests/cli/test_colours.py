"""Colours are an addition, for terminals alone."""

import io
import re

import pytest

from gpuyard_cli import colours

TEXT = """\
default/late waits: InsufficientGPUs: not enough free GPUs

  NODES  REASON                WHICH
      1  InsufficientGPUs      node-1
         to change: GPUs have to become free

What would make it fit, each by itself:
  - add 1 node like node-1"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_word_stays_as_it_is() -> None:
    painted = colours.answer(TEXT)
    assert re.sub(r"\x1b\[\d+m", "", painted) == TEXT
    first, _, heads, reason, change, *_, last = painted.split("\n")
    assert first.startswith("\x1b[1mdefault/late waits: \x1b[31mInsufficientGPUs\x1b[39m: not")
    assert heads.startswith("\x1b[2m")
    assert "\x1b[31mInsufficientGPUs\x1b[39m" in reason
    assert change.startswith("\x1b[32m")
    assert last.startswith("\x1b[32m")


@pytest.mark.parametrize(
    ("out", "setting", "wanted"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
    ],
)
def test_they_are_for_terminals_whose_users_have_not_said_no(
    monkeypatch: pytest.MonkeyPatch, out: io.StringIO, setting: dict[str, str], wanted: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, text in setting.items():
        monkeypatch.setenv(name, text)
    assert colours.wanted(out) is wanted
