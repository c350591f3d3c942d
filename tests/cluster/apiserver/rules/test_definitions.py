from typing import Any

import pytest

from gpuyard_cluster.apiserver.kinds.defaults import apply_defaults
from gpuyard_cluster.apiserver.rules.definitions import definition_faults, update_faults

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
        (definition(conversion={"strategy": "Webhook"}), "spec.conversion.strategy"),
        (
            definition(version(additionalPrinterColumns=[{"name": "x", "type": "odd", "jsonPath": "x"}])),
            "spec.versions[0].additionalPrinterColumns[0].jsonPath",
        ),
        (
            definition(version(selectableFields=[{}])),
            "spec.versions[0].selectableFields[0].jsonPath",
        ),
        (
            definition(version(subresources={"scale": {"specReplicasPath": ".status.x"}})),
            "spec.versions[0].subresources.scale.specReplicasPath",
        ),
    ],
)
def test_an_invalid_definition_is_told_by_field(body: dict[str, Any], field: str) -> None:
    assert field in {cause.field for cause in definition_faults(body)}


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
