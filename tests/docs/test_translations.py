"""Translations keep up with the English text: the same sections, code, names and links, and nothing older than it."""

from pathlib import Path

import pytest

from tests.docs import translations
from tests.docs.markdown import ROOT, sections


@pytest.mark.parametrize(("english", "chinese"), translations.PAIRS.items())
def test_a_translation_says_what_the_english_text_says_now(english: str, chinese: str) -> None:
    found = list(translations.differences(ROOT / english, ROOT / chinese))
    assert found == [], "translate it, then: .venv/bin/python -m tests.docs.translations"


ENGLISH = "# One\n\nSee [`a`](a.md).\n\n    run a    # now\n\n## Two\n\nText.\n"
CHINESE = "# 一\n\n见 [`a`](a.zh-CN.md)。\n\n    run a    # 现在\n\n## 二\n\n正文。\n"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "", []),
        ("Text.", "Text,\nmore.", ["Two: changed since 二 was translated"]),
        (
            "    run a",
            "    run b",
            ["One: code: ['run b'] became ['run a']", "One: changed since 一 was translated"],
        ),
        ("## Two", "### Two", ["'### Two' stands where the translation has '## 二'"]),
        ("\n\nText.", "\n\n\nText.", []),
    ],
)
def test_what_changed_after_it_was_translated_is_named(
    tmp_path: Path, before: str, after: str, said: list[str]
) -> None:
    english, chinese = tmp_path / "a.md", tmp_path / "a.zh-CN.md"
    chinese.write_text(translations.noting(sections(ENGLISH), sections(CHINESE)), "utf-8")
    english.write_text(ENGLISH.replace(before, after) if before else ENGLISH, "utf-8")
    assert list(translations.differences(english, chinese)) == said
