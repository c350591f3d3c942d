"""How ages are shown."""

import pytest

from gpuyard_cluster.apiserver.tables.ages import DAY, HOUR, age, duration


@pytest.mark.parametrize(
    ("elapsed", "shown"),
    [
        (-5, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (330, "5m30s"), (600, "10m"),
        (3 * HOUR - 1, "179m"), (3 * HOUR, "3h"), (3 * HOUR + 300, "3h5m"), (8 * HOUR + 300, "8h"),
        (47 * HOUR, "47h"), (50 * HOUR, "2d2h"), (8 * DAY, "8d"), (729 * DAY, "729d"), (800 * DAY, "2y70d"),
        (730 * DAY, "2y"), (9 * 365 * DAY + DAY, "9y"),
    ],
)  # fmt: skip
def test_a_duration_has_one_or_two_units(elapsed: int, shown: str) -> None:
    assert duration(elapsed) == shown


def test_an_age_is_counted_from_a_timestamp() -> None:
    assert age("1970-01-01T00:00:10Z", 100.0) == "90s"


@pytest.mark.parametrize("timestamp", [None, "yesterday", 7])
def test_an_age_without_a_timestamp_is_unknown(timestamp: object) -> None:
    assert age(timestamp, 0.0) == "<unknown>"
