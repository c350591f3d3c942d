import pytest

from tests.cluster.apiserver.calling import CONFIGS, Caller, config


@pytest.fixture
def api() -> Caller:
    return Caller()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v1/namespaces/default/limitranges", "LimitRange"),
        ("/apis/node.k8s.io/v1/runtimeclasses", "RuntimeClass"),
    ],
)
def test_what_nobody_can_make_here_is_listed_as_nothing_and_its_making_is_501(
    api: Caller, path: str, kind: str
) -> None:
    assert api.get(path).names == []
    answer = api.post(path, {"kind": kind, "metadata": {"name": "a"}})
    assert (answer.status, kind.lower() in answer.body["message"]) == (501, True)


def test_a_bad_accept_header_is_refused_before_anything_is_written(api: Caller) -> None:
    assert api.post(CONFIGS, config("a"), accept="text/html").status == 406
    assert api.get(f"{CONFIGS}/a").status == 404
