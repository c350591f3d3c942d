from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.definitions import definition_faults, update_faults
from tests.cluster.apiserver.widgets import definition, version

UNTYPED = {"type": "object", "properties": {"spec": {"properties": {"size": {"type": "integer"}}}}}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (definition(version("v1"), version("v2")), "spec.versions"),
        (definition(version("v1"), version("v1", storage=False)), "spec.versions"),
        (
            definition(version(schema=UNTYPED), version("v2", storage=False)),
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].type",
        ),
        (definition(group="nodots"), "spec.group"),
        (definition(names={"kind": "W", "plural": "w", "listKind": "W"}), "spec.names.listKind"),
        (definition(conversion={"strategy": "Magic"}), "spec.conversion.strategy"),
        (definition(conversion={"strategy": "Webhook"}), "spec.conversion.webhookClientConfig"),
        (definition(conversion={"strategy": "Webhook"}), "spec.conversion.conversionReviewVersions"),
        (
            definition(version(selectableFields=[{}])),
            "spec.selectableFields[0].jsonPath",
        ),
        (
            definition(version(subresources={"scale": {"specReplicasPath": ".status.x"}})),
            "spec.subresources.scale.specReplicasPath",
        ),
        (
            definition(version(additionalPrinterColumns=[{}]), version("v2", storage=False)),
            "spec.versions[0].additionalPrinterColumns[0].name",
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


def test_a_version_in_which_objects_were_stored_stays() -> None:
    body = definition(version("v2")) | {"status": {"storedVersions": ["v1", "v2"]}}
    [fault] = definition_faults(body)
    assert (fault.field, fault.reason) == ("status.storedVersions[0]", "FieldValueInvalid")


def test_identity_stays() -> None:
    old = definition()
    new = definition(names={"plural": "widgets", "kind": "Gadget"}, scope="Cluster")
    assert [cause.field for cause in update_faults(old, new)] == [
        "spec.scope",
        "spec.names.kind",
    ]
