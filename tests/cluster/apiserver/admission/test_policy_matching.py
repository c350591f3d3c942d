from typing import Any

import pytest

from gpuyard_cluster.apiserver.admission.cel import Failure
from gpuyard_cluster.apiserver.admission.policy_matching import (
    Attributes,
    matches,
    meets_conditions,
    variables_for,
)
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN

PODS = next(resource for resource in BUILTIN if resource.qualified == "pods")
RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
NAMESPACE = {"metadata": {"name": "n", "labels": {"team": "a"}}}


def attributes(**changes: Any) -> Attributes:
    known: dict[str, Any] = {"operation": "CREATE", "resource": PODS, "name": "p", "namespace": "n"}
    return Attributes(**{**known, "namespace_object": NAMESPACE, **changes})


def covers(given: Attributes | None = None, obj: dict[str, Any] | None = None, **rule: Any) -> bool:
    return matches({"resourceRules": [{**RULE, **rule}]}, given or attributes(), obj or {"metadata": {}})


def test_a_rule_names_operations_and_resources() -> None:
    assert covers()
    assert not covers(attributes(operation="UPDATE"))
    assert covers(attributes(operation="UPDATE"), operations=["*"])
    assert not covers(apiGroups=["apps"])
    assert not covers(resources=["nodes"])
    assert not covers(scope="Cluster")
    assert not covers(resourceNames=["other"])


@pytest.mark.parametrize(
    ("text", "whole", "binding"),
    [
        ("pods", True, False),
        ("pods/binding", False, True),
        ("pods/*", True, True),
        ("*", True, False),
        ("*/binding", False, True),
        ("*/*", True, True),
    ],
)
def test_subresources_are_named_on_their_own(text: str, whole: bool, binding: bool) -> None:
    assert covers(resources=[text]) is whole
    assert covers(attributes(subresource="binding"), resources=[text]) is binding


def test_selectors_look_at_the_namespace_and_at_either_object() -> None:
    assert matches({"namespaceSelector": {"matchLabels": {"team": "a"}}}, attributes(), {})
    assert not matches({"namespaceSelector": {"matchLabels": {"team": "b"}}}, attributes(), {})
    chosen = {"objectSelector": {"matchLabels": {"x": "1"}}}
    labelled = {"metadata": {"labels": {"x": "1"}}}
    assert matches(chosen, attributes(), labelled)
    assert matches(chosen, attributes(old=labelled), {"metadata": {}})
    assert not matches(chosen, attributes(), {"metadata": {}})


def test_what_is_excluded_is_not_covered() -> None:
    assert not matches({"resourceRules": [RULE], "excludeResourceRules": [RULE]}, attributes(), {})
    assert matches({}, attributes(), {}), "a binding without rules restricts nothing"


def test_one_false_condition_outweighs_an_error() -> None:
    good, bad, error = ({"expression": text} for text in ("true", "false", "object.missing"))
    known = {"object": {}}
    assert meets_conditions([good], known) is True
    assert meets_conditions([error, bad], known) is False
    assert isinstance(meets_conditions([good, error], known), Failure)


def test_expressions_see_the_request_and_the_variables_of_the_policy() -> None:
    variables = [
        {"name": "labels", "expression": "object.metadata.labels"},
        {"name": "team", "expression": "variables.labels['team']"},
        {"name": "broken", "expression": "object.missing"},
    ]
    obj = {"metadata": {"labels": {"team": "a"}}}
    known = variables_for({"spec": {"variables": variables}}, attributes(), obj)
    assert known["variables"] == {"labels": {"team": "a"}, "team": "a"}
    assert (known["request"]["operation"], known["request"]["kind"]["kind"]) == ("CREATE", "Pod")
    assert (known["oldObject"], known["namespaceObject"]) == (None, NAMESPACE)
