from dataclasses import replace

from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.storage.storage import restamped
from gpuyard_cluster.apiserver.storage.views import View

PODS = next(resource for resource in BUILTIN if resource.qualified == "pods")
WIDGETS = replace(PODS, group="example.com", plural="widgets", kind="Widget", custom=True)
POD = restamped("a", {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {}}, 5)
WIDGET = restamped("w", {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"}}, 5)


def test_an_object_is_shown_with_the_bytes_that_are_kept() -> None:
    assert View(PODS).encoded(POD) is POD.encoded


def test_another_version_differs_in_its_name_only() -> None:
    newer = View(replace(WIDGETS, version="v2"))
    assert newer.obj(WIDGET) == WIDGET.obj | {"apiVersion": "example.com/v2"}
    assert newer.storable(newer.obj(WIDGET), "example.com/v1") == WIDGET.obj
