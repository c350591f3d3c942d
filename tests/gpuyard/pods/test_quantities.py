import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.pods.quantities import MAXIMUM, NANO, canonical, milli, parse, rounded_up, whole

CANONICAL = {
    "8000": "8k",
    "0.5": "500m",
    "1024Mi": "1Gi",
    "1.5Gi": "1536Mi",
    "0.5Ki": "512",
    "1536": "1536",
    "0.1Ki": "102400m",
    "1000m": "1",
    "65536Mi": "64Gi",
    "1e3": "1e3",
    "9E": "9E",
    "1E3": "1e3",
    "1500e-3": "1500e-3",
    "-2000": "-2k",
    "+5": "5",
    ".5": "500m",
    "5.": "5",
    "0Gi": "0",
    "0.0000000001": "1n",
    "100E": str(MAXIMUM),
    "100Gi": "100Gi",
    "1023Ki": "1023Ki",
}


@pytest.mark.parametrize(("text", "stored"), CANONICAL.items())
def test_the_stored_text_is_the_one_of_kubernetes(text: str, stored: str) -> None:
    assert canonical(text) == stored


def test_numbers_of_yaml_files_are_quantities_too() -> None:
    assert (canonical(4), canonical(0.5), canonical(8000)) == ("4", "500m", "8k")


@pytest.mark.parametrize(
    "text", ["", "many", "1 Gi", "1.2.3", "1ki", "1e", "Gi", ".", "-", "1Zi", "0x1", "1e99999"]
)
def test_nonsense_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="quantity"):
        parse(text)


@pytest.mark.parametrize("value", [True, None, ["1"], {"cpu": 1}])
def test_what_is_neither_text_nor_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="must be a string or a number"):
        parse(value)  # type: ignore[arg-type]


def test_a_count_must_be_an_integer_and_a_size_rounds_up() -> None:
    assert (whole("2k"), rounded_up("0.1Gi"), milli("1.0001"), milli("-1.5")) == (
        2000,
        107374183,
        1001,
        -1500,
    )
    with pytest.raises(ValueError, match="'500m' must be an integer"):
        whole("0.5")


AMOUNTS = st.builds(
    lambda digits, suffix: f"{digits}{suffix}",
    st.decimals(min_value=-(10**6), max_value=10**6, places=3).map(lambda number: format(number, "f")),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e2", "E-3"]),
)


@settings(deadline=None)
@given(AMOUNTS)
def test_the_canonical_text_keeps_the_value_and_stays_as_it_is(text: str) -> None:
    once = canonical(text)
    assert parse(once).nano == parse(text).nano
    assert canonical(once) == once


@settings(deadline=None)
@given(st.integers(-(10**15), 10**15))
def test_integers_are_exact(number: int) -> None:
    assert whole(number) == rounded_up(str(number)) == number
    assert parse(number).nano == number * NANO
    assert milli(f"{number}m") == number
