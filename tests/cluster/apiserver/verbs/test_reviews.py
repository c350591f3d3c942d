from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.auth.authentication import Authentication
from gpuyard_cluster.apiserver.auth.users import User
from tests.cluster.apiserver.calling import Caller

ACCESS, IDENTITY = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"
ASKED: JSON = {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}


def test_everybody_may_do_everything(api: Caller) -> None:
    mine = api.make(f"{ACCESS}/selfsubjectaccessreviews", {"spec": ASKED})
    assert (mine["kind"], mine["status"]["allowed"]) == ("SelfSubjectAccessReview", True)
    other = {"user": "someone", **ASKED}
    assert api.make(f"{ACCESS}/subjectaccessreviews", {"spec": other})["status"]["allowed"]
    local = f"{ACCESS}/namespaces/default/localsubjectaccessreviews"
    assert api.make(local, {"spec": other})["status"]["allowed"]
    rules = api.make(f"{ACCESS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})["status"]
    assert rules["resourceRules"][0]["verbs"] == ["*"]


def test_what_a_review_says_is_what_would_happen(api: Caller) -> None:
    for who in ({"user": "system:anonymous"}, {"user": "x", "groups": ["system:unauthenticated"]}):
        status = api.make(f"{ACCESS}/subjectaccessreviews", {"spec": who | ASKED})["status"]
        assert status == {"allowed": False, "reason": "only authenticated users may do this"}
    open_to_all = {"user": "system:anonymous", "nonResourceAttributes": {"verb": "get", "path": "/healthz"}}
    assert api.make(f"{ACCESS}/subjectaccessreviews", {"spec": open_to_all})["status"] == {"allowed": True}
    someone = api.make(f"{ACCESS}/subjectaccessreviews", {"spec": {"user": "someone", **ASKED}})
    assert "roles are not simulated" in someone["status"]["reason"]


def test_who_asks_is_told(api: Caller) -> None:
    who = api.make(f"{IDENTITY}/selfsubjectreviews", {})["status"]["userInfo"]
    assert "system:masters" in who["groups"]


def test_a_token_that_was_given_out_is_known_and_no_other(api: Caller) -> None:
    api.server.authentication = Authentication({"secret": User("alice", ("ops",))})
    spec = {"token": "secret", "audiences": ["here"]}
    assert api.make(f"{IDENTITY}/tokenreviews", {"spec": spec})["status"] == {
        "authenticated": True,
        "user": {"username": "alice", "groups": ["ops"]},
        "audiences": ["here"],
    }
    status = api.make(f"{IDENTITY}/tokenreviews", {"spec": {"token": "x"}})["status"]
    assert (status.get("authenticated", False), bool(status["error"])) == (False, True)
