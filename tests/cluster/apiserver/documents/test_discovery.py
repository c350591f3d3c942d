"""Discovery documents."""

import dataclasses
from typing import Any

import pytest

from gpuyard_cluster.apiserver.documents.discovery import document, versions
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.resources import Resource, Subresource

WIDGET = Resource(
    group="example.com",
    version="v1beta1",
    plural="widgets",
    kind="Widget",
    namespaced=True,
    singular="widget",
    list_kind="WidgetList",
    short_names=("wd",),
    subresources=(Subresource("status", "Widget", "example.com", "v1beta1"),),
    custom=True,
)
RESOURCES = [*BUILTIN, WIDGET, dataclasses.replace(WIDGET, version="v1")]


def served(path: str, aggregated: bool = False) -> dict[str, Any]:
    found = document(path, RESOURCES, aggregated=aggregated)
    assert found is not None
    return found


def test_the_core_group_has_one_version() -> None:
    assert served("/api")["versions"] == ["v1"]


def test_versions_are_ordered_by_maturity_then_number() -> None:
    names = ["v1alpha2", "v1beta1", "odd", "v2", "v1", "v10", "v1beta2"]
    found = versions([dataclasses.replace(WIDGET, version=name) for name in names])
    assert found == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha2", "odd"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/apis/none.example.com",
        "/apis/apps/v9",
        "/api/v2",
        "/api/v1/pods",
        "/nowhere",
        "/apis/apps/v1/x",
    ],
)
def test_other_paths_have_no_document(path: str) -> None:
    assert document(path, RESOURCES, aggregated=False) is None
