from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.definitions import definition_faults, update_faults
from tests.cluster.apiserver.widgets import FREE, definition, version

UNTYPED = {"type": "object", "properties": {"spec": {"properties": {"size": {"type": "integer"}}}}}
RULED = {**FREE, "x-kubernetes-validations": [{"rule": "self.frob()"}]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (definition(name="gadgets.example.com"), "metadata.name"),
        (definition(version("v1"), version("v2")), "spec.versions"),
        (definition(version("v1"), version("v1", storage=False)), "spec.versions"),
        (definition(version("V 1")), "spec.versions[0].name"),
        (definition(version(schema=UNTYPED)), "spec.validation.openAPIV3Schema.properties[spec].type"),
        (
            definition(version(schema=UNTYPED), version("v2", storage=False)),
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].type",
        ),
        (
            definition({"name": "v1", "served": True, "storage": True}),
            "spec.versions[0].schema.openAPIV3Schema",
        ),
        (
            definition(version(schema=RULED)),
            "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule",
        ),
        (definition(scope="Galactic"), "spec.scope"),
        (definition(group="nodots"), "spec.group"),
        (definition(names={"kind": "Widget"}), "spec.names.plural"),
        (definition(names={"kind": "Widget", "plural": "a b"}), "spec.names.plural"),
        (definition(names={"kind": "W", "plural": "w", "listKind": "W"}), "spec.names.listKind"),
        (definition(conversion={"strategy": "Magic"}), "spec.conversion.strategy"),
        (definition(conversion={"strategy": "Webhook"}), "spec.conversion.webhookClientConfig"),
        (definition(conversion={"strategy": "Webhook"}), "spec.conversion.conversionReviewVersions"),
        (
            definition(version(additionalPrinterColumns=[{"name": "x", "type": "odd", "jsonPath": "x"}])),
            "spec.additionalPrinterColumns[0].JSONPath",
        ),
        (
            definition(version(selectableFields=[{}])),
            "spec.selectableFields[0].jsonPath",
        ),
        (
            definition(version(subresources={"scale": {"specReplicasPath": ".status.x"}})),
            "spec.subresources.scale.specReplicasPath",
        ),
        (definition(version("1v")), "spec.version"),
        (definition(version(storage=False)), "status.storedVersions"),
        (definition(preserveUnknownFields=True), "spec.preserveUnknownFields"),
        (
            definition(version(additionalPrinterColumns=[{}]), version("v2", storage=False)),
            "spec.versions[0].additionalPrinterColumns[0].name",
        ),
        (
            definition(version(schema={**FREE, "x-kubernetes-preserve-unknown-fields": False})),
            "spec.validation.openAPIV3Schema.x-kubernetes-preserve-unknown-fields",
        ),
    ],
)
def test_an_invalid_definition_is_told_by_field(body: dict[str, Any], field: str) -> None:
    assert field in {cause.field for cause in definition_faults(body)}


SIZED = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "n": {"type": "number"}}}
    },
}


@pytest.mark.parametrize(
    ("paths", "faulty"),
    [
        ([".spec.size"], []),
        ([".spec.none"], [0]),
        ([".spec"], [0]),
        ([".spec.n"], [0]),
        (["spec.size"], [0]),
        ([".metadata.name"], [0]),
        ([".spec.size", ".spec.size"], [1]),
    ],
)
def test_only_simple_fields_of_the_schema_are_selected_by(paths: list[str], faulty: list[int]) -> None:
    body = definition(version(schema=SIZED, selectableFields=[{"jsonPath": path} for path in paths]))
    found = [cause.field for cause in definition_faults(body)]
    assert found == [f"spec.selectableFields[{index}].jsonPath" for index in faulty]


def test_a_scale_has_both_counts() -> None:
    body = definition(version(subresources={"scale": {"specReplicasPath": ".spec.n"}}))
    [fault] = definition_faults(body)
    assert (fault.field, fault.reason) == ("spec.subresources.scale.statusReplicasPath", "FieldValueRequired")


def test_a_version_in_which_objects_were_stored_stays() -> None:
    body = definition(version("v2")) | {"status": {"storedVersions": ["v1", "v2"]}}
    [fault] = definition_faults(body)
    assert (fault.field, fault.reason) == ("status.storedVersions[0]", "FieldValueInvalid")


def test_a_good_definition_passes() -> None:
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    fields = {"subresources": {"status": {}, "scale": scale}, "additionalPrinterColumns": columns}
    assert not list(definition_faults(definition(version(**fields), version("v2", storage=False))))


def test_identity_stays() -> None:
    old = definition()
    new = definition(names={"plural": "widgets", "kind": "Gadget"}, scope="Cluster")
    assert [cause.field for cause in update_faults(old, new)] == [
        "spec.scope",
        "spec.names.kind",
    ]
