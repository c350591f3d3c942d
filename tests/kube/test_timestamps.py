"""Times as Kubernetes writes them."""

import pytest

from gpuyard_kube.timestamps import rfc3339, seconds


def test_what_is_written_is_read_back() -> None:
    assert seconds(rfc3339(1_800_000_000.9)) == 1_800_000_000


@pytest.mark.parametrize("text", [None, 3, "", "yesterday", "0001-01-01T00:00:00"])
def test_what_is_no_time_reads_as_none(text: object) -> None:
    assert seconds(text) is None
