import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.requests import Request
from tests.cluster.apiserver.admission.webhook_fakes import (
    MUTATING,
    VALIDATING,
    YES,
    Hooks,
    hook,
    patching,
    selecting,
    setting,
)
from tests.cluster.apiserver.calling import (
    CONFIGS,
    DEFINITIONS,
    MERGE,
    PODS,
    WIDGETS,
    binding,
    config,
    definition,
    pod,
    widget,
)


def test_mutating_webhooks_see_what_those_before_them_left() -> None:
    api = Hooks(
        first=lambda _: setting("a", "1"), second=lambda request: setting("b", request["object"]["data"]["a"])
    )
    api.configure(MUTATING, hook("second"), name="z")
    api.configure(MUTATING, hook("first"), name="a")
    assert api.make(CONFIGS, config("x", {"k": "v"}))["data"] == {"k": "v", "a": "1", "b": "1"}
    assert api.called == ["first", "second"]


def test_a_new_object_reaches_mutating_webhooks_without_identity_and_validating_ones_with_it() -> None:
    api = Hooks(mutate=lambda _: YES, validate=lambda _: YES)
    api.configure(MUTATING, hook("mutate"))
    api.configure(VALIDATING, hook("validate"))
    made = api.make(CONFIGS, {"metadata": {"generateName": "x-"}})
    first, second = (request for _, request in api.calls)
    assert "uid" not in first["object"]["metadata"]
    assert "name" not in first
    assert second["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert second["name"] == made["metadata"]["name"]


def test_no_webhook_is_asked_twice_about_the_same_write_whatever_happens_meanwhile() -> None:
    api = Hooks(mutate=lambda _: setting("a", "1"), validate=lambda _: later())

    def later() -> JSON:
        api.time += 5  # a slow webhook must not see its own delay as a new question
        return YES

    api.configure(MUTATING, hook("mutate"))
    api.configure(VALIDATING, hook("validate"))
    api.make(CONFIGS, {"metadata": {"generateName": "x-"}, "data": {"k": "v"}})
    assert api.called == ["mutate", "validate"]


def test_a_patch_is_made_on_what_another_wrote_while_a_webhook_was_asked() -> None:
    api = Hooks(slow=lambda _: interrupted())

    def interrupted() -> JSON:
        if len(api.calls) == 1:
            body, headers = b'{"data":{"theirs":"1"}}', {"content-type": MERGE}
            assert api.server.handle(Request("PATCH", f"{CONFIGS}/x", {}, headers, body)).status == 200
        return YES

    api.make(CONFIGS, config("x"))
    api.configure(VALIDATING, hook("slow", operations=("UPDATE",), objectSelector=selecting(slow="1")))
    answer = api.patch(f"{CONFIGS}/x", {"metadata": {"labels": {"slow": "1"}}, "data": {"ours": "1"}})
    assert answer.body["data"] == {"theirs": "1", "ours": "1"}
    assert api.called == ["slow", "slow"], "the second question is about the newer object"


def test_a_webhook_that_asks_for_it_is_called_again_after_a_later_change() -> None:
    def first(request: JSON) -> JSON:
        return setting("seen", str(len(request["object"]["data"])))

    api = Hooks(first=first, never=lambda _: YES, second=lambda _: setting("b", "1"))
    api.configure(
        MUTATING,
        hook("first", reinvocationPolicy="IfNeeded"),
        hook("never"),
        hook("second", reinvocationPolicy="IfNeeded"),
    )
    assert api.make(CONFIGS, config("x", {"k": "v"}))["data"] == {"k": "v", "seen": "3", "b": "1"}
    assert api.called == ["first", "never", "second", "first", "second"]


@pytest.mark.parametrize(
    ("fields", "called"),
    [
        ({"objectSelector": selecting(app="a")}, ["h"]),
        ({"objectSelector": selecting(app="b")}, []),
        ({"namespaceSelector": selecting(**{"kubernetes.io/metadata.name": "default"})}, ["h"]),
        ({"namespaceSelector": selecting(**{"kubernetes.io/metadata.name": "other"})}, []),
        ({"matchConditions": [{"name": "c", "expression": "object.metadata.name == 'x'"}]}, ["h"]),
        ({"matchConditions": [{"name": "c", "expression": "request.operation == 'DELETE'"}]}, []),
        ({"matchConditions": [{"name": "c", "expression": "object.nothing"}], "failurePolicy": "Ignore"}, []),
    ],
)
def test_selectors_and_conditions_choose_the_writes(fields: JSON, called: list[str]) -> None:
    api = Hooks(h=lambda _: YES)
    api.configure(VALIDATING, hook("h", **fields))
    api.make(CONFIGS, config("x", labels={"app": "a"}))
    assert api.called == called


def test_a_condition_without_a_value_refuses() -> None:
    api = Hooks(h=lambda _: YES)
    api.configure(VALIDATING, hook("h", matchConditions=[{"name": "c", "expression": "object.nothing"}]))
    assert api.post(CONFIGS, config("x")).status == 403


def test_every_kind_of_write_is_announced_as_what_it_is() -> None:
    api = Hooks(h=lambda _: YES)
    api.configure(VALIDATING, hook("h", "pods", "pods/*"))
    api.make(PODS, pod("a"))
    api.post(f"{PODS}/a/binding", binding("a", "n"))
    api.patch(f"{PODS}/a/status", {"status": {"phase": "Running"}})
    api.patch(f"{PODS}/a", {"metadata": {"labels": {"a": "b"}}})
    api.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}})
    api.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
    found = [
        (request["operation"], request.get("subResource", ""), request["kind"]["kind"])
        for _, request in api.calls
    ]
    assert found == [
        ("CREATE", "", "Pod"),
        ("CREATE", "binding", "Binding"),
        ("UPDATE", "status", "Pod"),
        ("UPDATE", "", "Pod"),
        ("CREATE", "eviction", "Eviction"),
        ("DELETE", "", "Pod"),
    ]
    deleted = api.calls[-1][1]
    assert deleted["object"] is None
    assert deleted["oldObject"]["metadata"]["name"] == "a"


def test_a_refused_collection_loses_nothing() -> None:
    api = Hooks(h=lambda request: {"allowed": request["name"] != "c"})
    for name in ("a", "b", "c"):
        api.make(CONFIGS, config(name))
    api.configure(VALIDATING, hook("h", operations=("DELETE",)))
    assert api.delete(CONFIGS).status == 400
    assert api.get(CONFIGS).names == ["a", "b", "c"]


def test_mutating_webhooks_can_refuse_a_deletion() -> None:
    api = Hooks(h=lambda _: {"allowed": False})
    api.make(CONFIGS, config("a"))
    api.configure(MUTATING, hook("h", operations=("DELETE",)))
    assert api.delete(f"{CONFIGS}/a").status == 400


def test_a_dry_run_says_so() -> None:
    api = Hooks(h=lambda _: YES)
    api.configure(VALIDATING, hook("h"))
    api.make(CONFIGS, config("a"), dryRun="All")
    request = api.calls[0][1]
    assert (request["dryRun"], request["options"]["dryRun"]) == (True, ["All"])


@pytest.mark.parametrize(("policy", "called"), [("Equivalent", ["h"]), ("Exact", [])])
def test_a_rule_about_one_version_covers_the_others_unless_exactly_that_is_wanted(
    policy: str, called: list[str]
) -> None:
    api = Hooks(h=lambda request: patching({"op": "add", "path": "/spec/size", "value": 7}))
    api.make(DEFINITIONS, definition("v1", "v2"))
    rule = {
        "apiGroups": ["example.com"],
        "apiVersions": ["v1"],
        "operations": ["*"],
        "resources": ["widgets"],
    }
    api.configure(MUTATING, hook("h", matchPolicy=policy, rules=[rule]))
    made = api.make(WIDGETS.replace("v1", "v2"), widget("w", "v2", size=1))
    assert made["apiVersion"] == "example.com/v2"
    assert made["spec"]["size"] == (7 if called else 1)
    assert api.called == called
    for _, request in api.calls:
        versions = [request[key]["version"] for key in ("kind", "requestKind", "resource", "requestResource")]
        assert versions == ["v1", "v2", "v1", "v2"]
        assert request["object"]["apiVersion"] == "example.com/v1"


def test_configurations_of_admission_are_shown_to_no_webhook() -> None:
    api = Hooks(h=lambda _: {"allowed": False})
    api.configure(VALIDATING, hook("h", "*"))
    assert api.delete(f"{VALIDATING}/hooks").status == 200
