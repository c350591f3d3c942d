from dataclasses import replace

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.resources import Resource, Subresource
from gpuyard_cluster.apiserver.storage import generations

FOUND = {resource.qualified: resource for resource in BUILTIN}
WIDGETS = replace(FOUND["configmaps"], group="example.com", plural="widgets", custom=True)


def after(resource: Resource, **change: object) -> JSON:
    old: JSON = {"metadata": {"generation": 1}, "spec": {"a": 1}, "status": {"b": 1}}
    new = {**old, "metadata": {"generation": 1, "labels": {"x": "y"}}, **change}
    generations.count(resource, old, new)
    metadata: JSON = new["metadata"]
    return metadata


def test_a_custom_resource_without_status_path_counts_its_status_too() -> None:
    isolated = replace(WIDGETS, subresources=(Subresource("status", "Widget"),))
    assert after(WIDGETS, status={})["generation"] == 2
    assert after(isolated, status={})["generation"] == 1
    assert after(isolated, more=1)["generation"] == 2
