from collections.abc import Sequence

import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.verbs.podlogs import no_logs, read_log
from gpuyard_cluster.logs import LogLine, NoLogsError

ONE: JSON = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main"}]}}
TWO: JSON = {
    "metadata": {"name": "a"},
    "spec": {"containers": [{"name": "x"}], "initContainers": [{"name": "y"}]},
}


NOW = 1_700_000_000.0


def printed(_pod: JSON, container: str, previous: bool) -> Sequence[LogLine]:
    if previous:
        raise NoLogsError(f'previous terminated container "{container}" in pod "a" not found')
    return [LogLine(NOW - 60, f"{container} 1"), LogLine(NOW - 5, f"{container} 2")]


def log(pod: JSON, **query: str) -> bytes:
    return read_log(Request("GET", "/", query), pod, printed, NOW)


def test_the_only_container_need_not_be_named() -> None:
    assert log(ONE) == b"main 1\nmain 2\n"
    assert log(TWO, container="y") == b"y 1\ny 2\n"


def test_a_log_can_be_cut() -> None:
    assert log(ONE, tailLines="1") == b"main 2\n"
    assert log(ONE, tailLines="0") == b""
    assert log(ONE, limitBytes="4") == b"main"


@pytest.mark.parametrize(
    ("pod", "query", "why"),
    [
        (TWO, {}, r"a container name must be specified for pod a, choose one of: \[y x\]"),
        (ONE, {"container": "z"}, "container z is not valid for pod a"),
    ],
)
def test_containers_that_cannot_be_found_are_bad_requests(pod: JSON, query: dict[str, str], why: str) -> None:
    with pytest.raises(ApiError, match=why) as refusal:
        log(pod, **query)
    assert refusal.value.code == 400


def test_a_container_that_has_not_started_says_so() -> None:
    with pytest.raises(ApiError, match='"main" in pod "a" is waiting to start'):
        read_log(Request("GET", "/"), ONE, no_logs, NOW)


@pytest.mark.parametrize(
    "query",
    [{"sinceSeconds": "30"}, {"sinceTime": "2023-11-14T22:13:00Z"}, {"tailLines": "1", "sinceSeconds": "90"}],
)
def test_old_lines_can_be_left_out(query: dict[str, str]) -> None:
    assert log(ONE, **query) == b"main 2\n"


def test_lines_can_have_their_times() -> None:
    assert log(ONE, timestamps="true", tailLines="1") == b"2023-11-14T22:13:15.000000000Z main 2\n"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"previous": "true"}, 'previous terminated container "main" in pod "a" not found'),
        ({"sinceTime": "yesterday"}, "not a time of RFC 3339"),
        ({"sinceTime": "2023-11-14T22:13:00Z", "sinceSeconds": "1"}, "at most one of"),
    ],
)
def test_what_cannot_be_answered_is_a_bad_request(query: dict[str, str], why: str) -> None:
    with pytest.raises(ApiError, match=why) as refusal:
        log(ONE, **query)
    assert refusal.value.code == 400
