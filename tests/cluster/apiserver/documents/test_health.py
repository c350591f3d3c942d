import pytest

from tests.cluster.apiserver.calling import PODS, Caller


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz", "/readyz/ping"])
def test_health_is_ok(path: str) -> None:
    response = Caller().get(path, accept="*/*").response
    assert (response.status, response.body) == (200, b"ok")


def test_verbose_health_names_its_checks() -> None:
    assert b"[+]ping ok" in Caller().get("/livez", verbose="").response.body


def test_requests_are_counted_by_resource_and_outcome() -> None:
    api = Caller()
    for _ in range(2):
        api.get(f"{PODS}/none")
    text = api.get("/metrics").response.body.decode()
    assert "# TYPE apiserver_request_total counter" in text
    labels = 'code="404",group="",resource="pods",verb="GET",version="v1"'
    assert f"apiserver_request_total{{{labels}}} 2\n" in text


def test_the_version_says_that_it_is_not_the_real_one() -> None:
    version = Caller().get("/version").body
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].endswith("+gpuyard")
