import copy
from typing import Any

from gpuyard_cluster.apiserver.custom import definitions
from gpuyard_cluster.apiserver.kinds.defaults import apply_defaults
from gpuyard_cluster.apiserver.kinds.resources import Column

NOW = "2026-01-02T03:04:05Z"
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def version(name: str = "v1", schema: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or FREE},
        **fields,
    }


def definition(*versions: dict[str, Any], name: str = "widgets.example.com", **spec: Any) -> dict[str, Any]:
    names = {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]}
    body = {
        "metadata": {"name": name},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": list(versions) or [version()],
            **spec,
        },
    }
    apply_defaults("CustomResourceDefinition", body)
    return body


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
