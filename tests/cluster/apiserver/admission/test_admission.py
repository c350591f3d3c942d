import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.auth.users import User
from gpuyard_cluster.apiserver.requests import Request
from tests.cluster.apiserver.calling import CONFIGS, PODS, Caller, config, pod

GROUP = "/apis/admissionregistration.k8s.io/v1"
RULES = {
    "resourceRules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    ]
}


def policy(kind: str, spec: JSON) -> tuple[str, JSON]:
    return f"{GROUP}/{kind.lower().replace('policy', 'policies')}", {"metadata": {"name": "p"}, "spec": spec}


def test_pods_get_the_priority_of_their_class(api: Caller) -> None:
    api.make("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 9})
    assert api.make(PODS, pod("a", priorityClassName="high"))["spec"]["priority"] == 9
    refused = api.post(PODS, pod("b", priorityClassName="low"))
    assert (refused.status, "no PriorityClass with name low was found" in refused.body["message"]) == (
        403,
        True,
    )


def test_a_namespace_that_is_not_there_takes_nothing(api: Caller) -> None:
    answer = api.post(CONFIGS.replace("default", "missing"), config("a"))
    assert (answer.status, answer.body["details"]) == (404, {"name": "missing", "kind": "namespaces"})


def test_a_mutating_policy_gates_labelled_pods_once_it_is_bound(api: Caller) -> None:
    gate = 'Object.spec.schedulingGates{name: "example.com/gang"}'
    mutation = {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": f"Object{{spec: Object.spec{{schedulingGates: [{gate}]}}}}"},
    }
    condition = {
        "name": "member",
        "expression": "has(object.metadata.labels) && 'group' in object.metadata.labels",
    }
    path, body = policy(
        "MutatingAdmissionPolicy",
        {
            "matchConstraints": RULES,
            "matchConditions": [condition],
            "mutations": [mutation],
            "reinvocationPolicy": "Never",
        },
    )
    member = {"labels": {"group": "g"}}
    api.make(path, body)
    assert "schedulingGates" not in api.make(PODS, pod("before", member))["spec"]
    api.make(
        f"{GROUP}/mutatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": {"policyName": "p"}}
    )
    gated = api.make(PODS, pod("a", member))
    assert gated["spec"]["schedulingGates"] == [{"name": "example.com/gang"}]
    assert gated["status"]["conditions"][0]["reason"] == "SchedulingGated"
    assert "schedulingGates" not in api.make(PODS, pod("b"))["spec"]


def test_a_validating_policy_denies(api: Caller) -> None:
    rule = {"expression": "object.metadata.name != 'bad'", "message": "no bad names"}
    path, body = policy("ValidatingAdmissionPolicy", {"matchConstraints": RULES, "validations": [rule]})
    api.make(path, body)
    spec = {"policyName": "p", "validationActions": ["Deny"]}
    api.make(f"{GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": spec})
    assert api.post(PODS, pod("good")).status == 201
    refused = api.post(PODS, pod("bad"))
    assert (refused.status, "no bad names" in refused.body["message"]) == (422, True)


def test_policies_are_told_who_asks(api: Caller) -> None:
    mine = {"expression": "request.userInfo.username == 'alice' && 'ops' in request.userInfo.groups"}
    path, body = policy("ValidatingAdmissionPolicy", {"matchConstraints": RULES, "validations": [mine]})
    api.make(path, body)
    bound = {"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}
    api.make(f"{GROUP}/validatingadmissionpolicybindings", bound)
    statuses = [
        api.server.handle(Request("POST", PODS, {}, {}, orjson.dumps(pod(name)), user)).status
        for name, user in (("a", User("bob", ("ops",))), ("b", User("alice", ("ops",))))
    ]
    assert statuses == [422, 201]
