import pytest

from gpuyard.writes import JSON
from tests.cluster.apiserver.calling import Caller

ACCESS, IDENTITY = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"
ASKED: JSON = {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}


@pytest.fixture
def api() -> Caller:
    return Caller()


def test_everybody_may_do_everything(api: Caller) -> None:
    mine = api.make(f"{ACCESS}/selfsubjectaccessreviews", {"spec": ASKED})
    assert (mine["kind"], mine["status"]["allowed"]) == ("SelfSubjectAccessReview", True)
    other = {"user": "someone", **ASKED}
    assert api.make(f"{ACCESS}/subjectaccessreviews", {"spec": other})["status"]["allowed"]
    local = f"{ACCESS}/namespaces/default/localsubjectaccessreviews"
    assert api.make(local, {"spec": other})["status"]["allowed"]
    rules = api.make(f"{ACCESS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})["status"]
    assert rules["resourceRules"][0]["verbs"] == ["*"]


def test_who_asks_is_told_and_no_token_is_known(api: Caller) -> None:
    who = api.make(f"{IDENTITY}/selfsubjectreviews", {})["status"]["userInfo"]
    assert "system:masters" in who["groups"]
    status = api.make(f"{IDENTITY}/tokenreviews", {"spec": {"token": "x"}})["status"]
    assert (status.get("authenticated", False), bool(status["error"])) == (False, True)


@pytest.mark.parametrize(
    "spec",
    [ASKED, {"user": "x"}, {"user": "x", **ASKED, "nonResourceAttributes": {"path": "/", "verb": "get"}}],
)
def test_senseless_questions_are_invalid(api: Caller, spec: JSON) -> None:
    assert api.post(f"{ACCESS}/subjectaccessreviews", {"spec": spec}).status == 422


def test_reviews_are_never_stored(api: Caller) -> None:
    before = api.server.revision
    api.make(f"{ACCESS}/selfsubjectaccessreviews", {"spec": ASKED})
    assert (api.get(f"{ACCESS}/selfsubjectaccessreviews").status, api.server.revision) == (405, before)
