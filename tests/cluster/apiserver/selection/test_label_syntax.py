"""The grammar of label selectors."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.selection.label_syntax import SelectorError, parse


@pytest.mark.parametrize(
    "text",
    [
        "a in",
        "a in x",
        "a in (x",
        "a=,=",
        "-bad=x",
        "a in (-)",
        "a=x,",
        ",a",
        "!",
        "!a=x",
        "a b",
        "a>x",
        "a!",
        "/a",
        "a=b=c",
    ],
)
def test_a_selector_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(SelectorError):
        list(parse(text))


def test_numbers_are_compared_as_numbers() -> None:
    (above,), (below,) = parse("index>9"), parse("index<9")
    assert above.holds("10")
    assert not above.holds("9")
    assert below.holds("-10")
    assert not below.holds("ten")
    assert not below.holds(None)


WORD = st.from_regex(r"[a-z]([a-z.-]{0,4}[a-z])?", fullmatch=True)
VALUE = st.none() | WORD


@settings(deadline=None, max_examples=60)
@given(WORD, WORD, VALUE)
def test_each_operator_has_its_negation(key: str, wanted: str, value: str | None) -> None:
    for plain, negated in ((f"{key}={wanted}", f"{key}!={wanted}"), (key, f"!{key}")):
        (one,), (other,) = parse(plain), parse(negated)
        assert one.holds(value) is not other.holds(value)
    (within,), (without,) = parse(f"{key} in ({wanted},z)"), parse(f"{key} notin ({wanted},z)")
    assert within.holds(value) is not without.holds(value)


@settings(deadline=None, max_examples=60)
@given(st.text("ab!=,()<> in", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(SelectorError):
        assert all(requirement.key for requirement in parse(text))
