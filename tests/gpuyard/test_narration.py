"""What is told to people."""

import pytest

from gpuyard.narration import few


@pytest.mark.parametrize(
    ("names", "text"), [((), ""), (("a", "b"), "a, b"), (("a", "b", "c"), "a, b and 1 more")]
)
def test_the_first_names_stand_in_a_line_and_the_others_are_counted(
    names: tuple[str, ...], text: str
) -> None:
    assert few(names, 2) == text
