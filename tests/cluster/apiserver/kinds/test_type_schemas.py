"""The OpenAPI schemas of built-in types."""

from typing import Any

import orjson
import pytest

from gpuyard_cluster.apiserver.kinds import type_schemas
from gpuyard_cluster.apiserver.kinds.kind_table import TABLE


def references(schema: Any) -> set[str]:
    """Every name that a schema refers to."""
    if isinstance(schema, list):
        return {name for part in schema for name in references(part)}
    if not isinstance(schema, dict):
        return set()
    link = schema.get("$ref")
    own = {link.removeprefix(type_schemas.REFERENCE)} if isinstance(link, str) else set()
    return own | {name for part in schema.values() for name in references(part)}


@pytest.mark.parametrize(
    ("type_name", "name"),
    [
        ("V1Pod", "io.k8s.api.core.v1.Pod"),
        ("V1PodSpec", "io.k8s.api.core.v1.PodSpec"),
        ("V1PodTemplateSpec", "io.k8s.api.core.v1.PodTemplateSpec"),
        ("V1DeploymentSpec", "io.k8s.api.apps.v1.DeploymentSpec"),
        ("V1LabelSelector", "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"),
        ("CoreV1Event", "io.k8s.api.core.v1.Event"),
        ("EventsV1Event", "io.k8s.api.events.v1.Event"),
        ("V1Role", "io.k8s.api.rbac.v1.Role"),
        (
            "V1JSONSchemaProps",
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
        ),
    ],
)
def test_types_have_the_names_that_kubernetes_gives_them(type_name: str, name: str) -> None:
    assert type_schemas.name(type_name) == name


def test_every_type_has_a_name_of_its_own_and_every_reference_is_there() -> None:
    roots = list(orjson.loads(TABLE.read_bytes())["kinds"].values())
    schemas = type_schemas.schemas(roots)
    assert references(schemas) <= set(schemas)
    assert set(type_schemas.schemas(["V1Pod"])) < set(schemas)
    names = [type_schemas.name(root) for root in set(roots)]
    assert len(set(names)) == len(names)


def test_lists_say_how_they_merge() -> None:
    spec = type_schemas.schemas(["V1PodSpec"])["io.k8s.api.core.v1.PodSpec"]["properties"]
    containers = spec["containers"]
    assert containers["x-kubernetes-list-type"] == "map"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert (containers["x-kubernetes-patch-merge-key"], containers["x-kubernetes-patch-strategy"]) == (
        "name",
        "merge",
    )
    assert spec["tolerations"]["x-kubernetes-list-type"] == "atomic"
    assert "x-kubernetes-patch-strategy" not in spec["tolerations"]
    assert spec["nodeSelector"]["x-kubernetes-map-type"] == "atomic"
    finalizers = type_schemas.schemas(["V1ObjectMeta"])[type_schemas.name("V1ObjectMeta")]["properties"][
        "finalizers"
    ]
    assert (finalizers["x-kubernetes-list-type"], finalizers["x-kubernetes-patch-strategy"]) == (
        "set",
        "merge",
    )
