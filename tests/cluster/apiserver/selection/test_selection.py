"""Label and field selectors on objects."""

import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.selection import selection

RESOURCES = {resource.qualified: resource for resource in BUILTIN}


def test_null_labels_are_no_labels() -> None:
    assert selection.labels("!app").matches({"metadata": {"labels": None}})


@pytest.mark.parametrize("text", ["app in", "app=,=", "-bad=x", "app in (-)"])
def test_a_bad_label_selector_is_a_bad_request(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        selection.labels(text)
    assert refused.value.code == 400
    assert text in refused.value.message


POD = {
    "metadata": {"name": "b", "namespace": "ns"},
    "spec": {"schedulerName": "nobody", "restartPolicy": "Always"},
    "status": {"phase": "Pending"},
}


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("spec.nodeName=", True),
        ("spec.nodeName!=", False),
        ("metadata.name=b,metadata.namespace=ns", True),
        ("metadata.name!=b", False),
        ("status.phase=Pending,spec.schedulerName==nobody", True),
        ("spec.restartPolicy=Never", False),
        ("spec.hostNetwork=false", True),
    ],
)
def test_pods_are_chosen_by_field(text: str, chosen: bool) -> None:
    assert selection.fields(text, RESOURCES["pods"]).matches(POD) is chosen


def test_a_cordoned_node_is_found_by_its_boolean() -> None:
    cordoned = selection.fields("spec.unschedulable=true", RESOURCES["nodes"])
    assert cordoned.matches({"metadata": {"name": "n"}, "spec": {"unschedulable": True}})
    assert not cordoned.matches({"metadata": {"name": "n"}})


def test_events_are_chosen_by_the_object_they_are_about() -> None:
    event = {"metadata": {}, "involvedObject": {"name": "a"}, "reason": "R", "source": {"component": "me"}}
    chosen = selection.fields(
        "involvedObject.name=a,reason=R,source=me,reportingComponent=me", RESOURCES["events"]
    )
    assert chosen.matches(event)
    assert not chosen.matches({**event, "involvedObject": {"name": "b"}})


def test_an_escaped_comma_belongs_to_the_value() -> None:
    chosen = selection.fields(r"reason=a\,b\=c", RESOURCES["events"])
    assert chosen.matches({"metadata": {}, "reason": "a,b=c"})


@pytest.mark.parametrize(
    ("resource", "text", "told"),
    [
        ("pods", "spec.hostname=x", "field label not supported: spec.hostname"),
        ("configmaps", "data.x=y", "field label not supported: data.x"),
        ("nodes", "metadata.namespace=x", "field label not supported"),
        ("pods", "metadata.name", "invalid selector"),
    ],
)
def test_a_field_that_is_not_offered_is_a_bad_request(resource: str, text: str, told: str) -> None:
    with pytest.raises(ApiError) as refused:
        selection.fields(text, RESOURCES[resource])
    assert refused.value.code == 400
    assert told in refused.value.message
