import re

import pytest

from gpuyard.verdicts import Reason


@pytest.mark.parametrize("reason", list(Reason))
def test_every_code_has_a_constant_sentence_without_numbers(reason: Reason) -> None:
    assert reason.text.startswith(f"{reason.value}: ")
    assert not re.search(r"[0-9]", reason.text)
    assert len(reason.text) < 128


def test_codes_and_sentences_are_told_apart() -> None:
    assert len({reason.text for reason in Reason}) == len(Reason) == 21
