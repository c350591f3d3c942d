import copy

from gpuyard_cluster.apiserver.custom import definitions
from gpuyard_cluster.apiserver.kinds.resources import Column
from tests.cluster.apiserver.widgets import definition, version

NOW = "2026-01-02T03:04:05Z"


def test_a_definition_adds_one_resource_for_each_served_version() -> None:
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    body = definition(
        version(additionalPrinterColumns=columns, subresources={"status": {}, "scale": scale}),
        version("v2", storage=False),
        version("v0", storage=False, served=False),
    )
    first, second = definitions.resources_of(body)
    assert (first.api_version, first.qualified, first.list_kind) == (
        "example.com/v1",
        "widgets.example.com",
        "WidgetList",
    )
    assert (first.singular, first.short_names, first.namespaced, first.custom) == (
        "widget",
        ("wd",),
        True,
        True,
    )
    assert first.columns == (Column("Size", "integer", ".spec.size"),)
    assert first.status_isolated
    found = first.subresource("scale")
    assert found is not None
    assert dict(found.paths) == scale
    assert (second.version, second.subresources) == ("v2", ())
    assert first.schema is not None


def test_of_versions_that_a_webhook_would_convert_only_the_stored_one_is_served_and_that_is_said() -> None:
    versions = (version(storage=False), version("v2"))
    body = definition(*versions, conversion={"strategy": "Webhook"})
    assert [resource.version for resource in definitions.resources_of(body)] == ["v2"]
    definitions.establish(body, NOW)
    [said] = (found for found in body["status"]["conditions"] if found["type"] == "gpuyard.io/NotSimulated")
    assert said["message"] == "no conversion webhook is called: v2 is served alone"


def test_a_definition_is_established_once() -> None:
    body = definition()
    definitions.establish(body, NOW)
    status = copy.deepcopy(body["status"])
    assert {entry["type"]: entry["status"] for entry in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert (status["storedVersions"], status["acceptedNames"]["listKind"]) == (["v1"], "WidgetList")
    definitions.establish(body, "2027-01-02T03:04:05Z")
    assert body["status"] == status
