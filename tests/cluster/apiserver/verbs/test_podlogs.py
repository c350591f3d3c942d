import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.verbs.podlogs import no_logs, read_log

ONE: JSON = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main"}]}}
TWO: JSON = {
    "metadata": {"name": "a"},
    "spec": {"containers": [{"name": "x"}], "initContainers": [{"name": "y"}]},
}


def printed(_pod: JSON, container: str) -> bytes:
    return f"{container} 1\n{container} 2\n".encode()


def log(pod: JSON, **query: str) -> bytes:
    return read_log(Request("GET", "/", query), pod, printed)


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
        read_log(Request("GET", "/"), ONE, no_logs)


@pytest.mark.parametrize("option", ["follow", "previous", "timestamps"])
def test_options_that_are_not_served_say_so(option: str) -> None:
    with pytest.raises(ApiError, match=option) as refusal:
        log(ONE, **{option: "true"})
    assert refusal.value.code == 501
