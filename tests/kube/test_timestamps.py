"""Times as Kubernetes writes them."""

import pytest

from gpuyard_kube.timestamps import LATEST, rfc3339, rfc3339_micro, seconds


def test_what_is_written_is_read_back() -> None:
    assert seconds(rfc3339(1_800_000_000.9)) == 1_800_000_000


@pytest.mark.parametrize("text", [None, 3, "", "yesterday", "0001-01-01T00:00:00"])
def test_what_is_no_time_reads_as_none(text: object) -> None:
    assert seconds(text) is None


@pytest.mark.parametrize("later", [1, 10**15, 2**63 - 1])
def test_what_no_date_can_say_is_written_as_the_nearest_one(later: int) -> None:
    assert seconds(rfc3339(-later)) == seconds(rfc3339_micro(-later)) == 0
    assert seconds(rfc3339(LATEST + later)) == seconds(rfc3339_micro(LATEST + later)) == LATEST
