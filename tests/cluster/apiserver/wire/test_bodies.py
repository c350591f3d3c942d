import orjson
import pytest

from gpuyard.writes import JSON
from tests.cluster.apiserver.calling import (
    APPLY,
    CONFIGS,
    DEFINITIONS,
    DEPLOYMENTS,
    JSON_PATCH,
    MERGE,
    PODS,
    TABLE,
    WIDGETS,
    Caller,
    config,
    definition,
    deployment,
    pod,
    widget,
)

UNKNOWN = b'{"metadata":{"name":"a"},"bogus":1,"data":{"x":"1","x":"2"}}'


def test_unknown_and_repeated_fields_warn_fail_or_pass(api: Caller) -> None:
    strict = api.call("POST", CONFIGS, UNKNOWN, fieldValidation="Strict")
    assert strict.status == 400
    assert 'strict decoding error: unknown field "bogus", duplicate field "data.x"' in strict.body["message"]
    warned = api.call("POST", CONFIGS, UNKNOWN, dryRun="All")
    assert ("warning", '299 - "unknown field \\"bogus\\""') in warned.response.headers
    ignored = api.call("POST", CONFIGS, UNKNOWN, fieldValidation="Ignore")
    assert "warning" not in dict(ignored.response.headers)
    assert (ignored.status, ignored.body["data"], "bogus" in ignored.body) == (201, {"x": "2"}, False)


def test_unknown_fields_of_custom_resources_too(api: Caller) -> None:
    api.make(DEFINITIONS, definition())
    strict = api.post(WIDGETS, widget("a", bogus=1), fieldValidation="Strict")
    assert (strict.status, 'unknown field "spec.bogus"' in strict.body["message"]) == (400, True)


@pytest.mark.parametrize("name", ["binding", "eviction", "scale"])
@pytest.mark.parametrize(
    "body", [b"[]", b'{"metadata": 1}', b'{"kind": "Other"}', b'{"metadata": {"name": {}}}']
)
def test_bodies_of_subresources_are_checked_too(api: Caller, name: str, body: bytes) -> None:
    api.make(PODS, pod("a"))
    api.make(DEPLOYMENTS, deployment("a"))
    method, path = ("PUT", DEPLOYMENTS) if name == "scale" else ("POST", PODS)
    assert api.call(method, f"{path}/a/{name}", body).status == 400


@pytest.mark.parametrize("body", [b"[]", b'{"preconditions": "none"}', b'{"gracePeriodSeconds": "soon"}'])
def test_options_of_a_deletion_are_checked_too(api: Caller, body: bytes) -> None:
    api.make(CONFIGS, config("a"))
    assert api.call("DELETE", f"{CONFIGS}/a", body).status == 400


@pytest.mark.parametrize("kind", [MERGE, JSON_PATCH, APPLY])
def test_no_patch_takes_an_object_beyond_the_depth_that_lists_and_tables_bear(api: Caller, kind: str) -> None:
    api.make(DEFINITIONS, definition())
    api.make(WIDGETS, widget("a", free={}))
    path, statuses = "/spec/free", set[int]()
    free: JSON = {}
    query = {"fieldManager": "m", **({"force": "true"} if kind == APPLY else {})}
    for _ in range(45):
        free = {"x": {"x": {"x": {"x": free}}}}
        changed = widget("a", free=free)
        steps = [{"op": "add", "path": path + "/x" * more, "value": {}} for more in (1, 2, 3, 4)]
        body = orjson.dumps(steps if kind == JSON_PATCH else changed)
        statuses.add(api.call("PATCH", f"{WIDGETS}/a", body, kind, **query).status)
        path += "/x/x/x/x"
    # Once it is refused, the parents of what a JSON patch would add are missing.
    assert statuses == ({200, 400, 422} if kind == JSON_PATCH else {200, 400})
    assert api.get(WIDGETS).status == api.get(WIDGETS, accept=TABLE).status == 200
