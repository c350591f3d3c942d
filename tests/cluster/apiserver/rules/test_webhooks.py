import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.rules.webhooks import configuration_faults
from tests.cluster.apiserver.admission.webhook_fakes import hook

RULE: JSON = hook("h")["rules"][0]


def faults(*hooks: JSON) -> set[tuple[str, str]]:
    found = configuration_faults({"webhooks": list(hooks)})
    return {
        (cause.field.removeprefix("webhooks[0]."), cause.reason.removeprefix("FieldValue")) for cause in found
    }


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"name": ""}, "name", "Required"),
        ({"name": "two.segments"}, "name", "Invalid"),
        ({"name": "Not.a.name"}, "name", "Invalid"),
        ({"admissionReviewVersions": []}, "admissionReviewVersions", "Required"),
        ({"admissionReviewVersions": ["v1beta1"]}, "admissionReviewVersions", "Invalid"),
        ({"sideEffects": "Some"}, "sideEffects", "NotSupported"),
        ({"failurePolicy": "Maybe"}, "failurePolicy", "NotSupported"),
        ({"matchPolicy": "Roughly"}, "matchPolicy", "NotSupported"),
        ({"reinvocationPolicy": "Always"}, "reinvocationPolicy", "NotSupported"),
        ({"timeoutSeconds": 0}, "timeoutSeconds", "Invalid"),
        ({"timeoutSeconds": 31}, "timeoutSeconds", "Invalid"),
        ({"objectSelector": {"matchLabels": {"a b": ""}}}, "objectSelector.matchLabels", "Invalid"),
        ({"rules": [{**RULE, "operations": []}]}, "rules[0].operations", "Required"),
        ({"rules": [{**RULE, "operations": ["LOOK"]}]}, "rules[0].operations[0]", "NotSupported"),
        ({"rules": [{**RULE, "apiVersions": ["*", "v1"]}]}, "rules[0].apiVersions", "Invalid"),
        ({"rules": [{**RULE, "resources": [""]}]}, "rules[0].resources[0]", "Required"),
        ({"rules": [{**RULE, "scope": "All"}]}, "rules[0].scope", "NotSupported"),
        ({"clientConfig": {}}, "clientConfig", "Required"),
        ({"clientConfig": {"url": "https://a", "service": {}}}, "clientConfig", "Required"),
        ({"clientConfig": {"url": "http://a"}}, "clientConfig.url", "Invalid"),
        ({"clientConfig": {"url": "https://"}}, "clientConfig.url", "Invalid"),
        ({"clientConfig": {"url": "https://me@a"}}, "clientConfig.url", "Invalid"),
        ({"clientConfig": {"url": "https://a/#b"}}, "clientConfig.url", "Invalid"),
        ({"clientConfig": {"url": "https://a?b=c"}}, "clientConfig.url", "Invalid"),
        ({"clientConfig": {"url": "https://a:port"}}, "clientConfig.url", "Required"),
        ({"clientConfig": {"service": {"name": "a"}}}, "clientConfig.service.namespace", "Required"),
        (
            {"clientConfig": {"service": {"name": "a", "namespace": "b", "port": 0}}},
            "clientConfig.service.port",
            "Invalid",
        ),
        (
            {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "c"}}},
            "clientConfig.service.path",
            "Invalid",
        ),
        ({"matchConditions": [{"expression": "true"}]}, "matchConditions[0].name", "Required"),
        (
            {"matchConditions": [{"name": "a", "expression": " "}]},
            "matchConditions[0].expression",
            "Required",
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "what"}]},
            "matchConditions[0].expression",
            "Invalid",
        ),
    ],
)
def test_each_fault_names_its_field(fields: JSON, field: str, reason: str) -> None:
    assert faults({**hook("h"), **fields}) == {(field, reason)}


def test_names_are_unique() -> None:
    found = [cause.field for cause in configuration_faults({"webhooks": [hook("a"), hook("a")]})]
    assert found == ["webhooks[1].name"]
