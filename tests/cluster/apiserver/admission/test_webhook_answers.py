"""What webhooks answer, and what becomes of nonsense."""

from typing import Any

import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.consultation import Failed
from tests.cluster.apiserver.admission.webhook_fakes import (
    MUTATING,
    VALIDATING,
    Hooks,
    hook,
    patching,
)
from tests.cluster.apiserver.calling import (
    CONFIGS,
    Caller,
    config,
)


def test_a_refusal_is_what_the_webhook_says() -> None:
    api = Hooks(
        no=lambda _: {"allowed": False, "status": {"code": 409, "message": "not today", "reason": "Conflict"}}
    )
    api.configure(VALIDATING, hook("no"))
    answer = api.post(CONFIGS, config("x"))
    said = 'admission webhook "no.hooks.example.com" denied the request: not today'
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (409, "Conflict", said)
    assert api.get(CONFIGS).names == []


@pytest.mark.parametrize(
    ("status", "code", "ending"),
    [
        (None, 400, "denied the request without explanation"),
        ({"reason": "NotFound"}, 400, "denied the request: NotFound"),
        ({"code": 200, "message": "m"}, 400, "denied the request: m"),
        ({"code": 422, "message": "m"}, 422, "denied the request: m"),
    ],
)
def test_a_refusal_always_has_a_code_of_a_refusal(status: Any, code: int, ending: str) -> None:
    api = Hooks(no=lambda _: {"allowed": False, "status": status})
    api.configure(VALIDATING, hook("no"))
    answer = api.post(CONFIGS, config("x"))
    assert answer.status == code
    assert answer.body["message"].endswith(ending)


NONSENSE = {
    "unreachable": Failed("failed to call webhook: nobody there"),
    "no JSON": b"<html>",
    "no object": b"[]",
    "no response": b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
    "another version": b'{"kind":"AdmissionReview","apiVersion":"v1","response":{}}',
    "another's uid": {"uid": "1", "allowed": True},
    "no patch": {"allowed": True, "patchType": "JSONPatch"},
    "no patch type": {"allowed": True, "patch": "W10="},
    "another patch type": {"allowed": True, "patch": "W10=", "patchType": "Merge"},
    "no base64": {"allowed": True, "patch": "?", "patchType": "JSONPatch"},
    "no list": {"allowed": True, "patch": "e30=", "patchType": "JSONPatch"},
}


@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("path", [MUTATING, VALIDATING])
def test_nonsense_fails_or_is_ignored_as_the_configuration_says(path: str, reply: Any) -> None:
    api = Hooks(bad=lambda _: reply)
    api.configure(path, hook("bad"), name="strict")
    answer = api.post(CONFIGS, config("x"))
    assert (answer.status, answer.body["reason"]) == (500, "InternalError")
    assert 'failed calling webhook "bad.hooks.example.com"' in answer.body["message"]
    assert api.patch(f"{path}/strict", {"webhooks": [hook("bad", failurePolicy="Ignore")]}).status == 200
    assert api.post(CONFIGS, config("x")).status == 201


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nothing"},
        {"op": "add", "path": "/data", "value": {"a": 1}},
        {"op": "add", "path": "/data", "value": "text"},
    ],
)
def test_a_patch_that_does_not_fit_fails_whatever_the_policy(operation: JSON) -> None:
    api = Hooks(bad=lambda _: patching(operation))
    api.configure(MUTATING, hook("bad", failurePolicy="Ignore"))
    assert api.post(CONFIGS, config("x")).status == 500


def test_without_a_network_a_webhook_counts_as_unreachable() -> None:
    api = Caller()
    api.make(VALIDATING, {"metadata": {"name": "a"}, "webhooks": [hook("x")]})
    answer = api.post(CONFIGS, config("x"))
    assert answer.status == 500
    assert "without a network" in answer.body["message"]
    api.patch(f"{VALIDATING}/a", {"webhooks": [hook("x", failurePolicy="Ignore")]})
    assert api.post(CONFIGS, config("x")).status == 201


def test_warnings_reach_the_client_on_success_and_on_refusal() -> None:
    api = Hooks(
        warn=lambda request: {"allowed": request["name"] == "good", "warnings": ['look "out"', "a\nb"]}
    )
    api.configure(VALIDATING, hook("warn"))
    for name, status in (("good", 201), ("bad", 400)):
        answer = api.post(CONFIGS, config(name))
        assert answer.status == status
        told = [text for header, text in answer.response.headers if header == "warning"]
        assert told == ['299 - "look \\"out\\""'], "a warning of two lines is dropped"
