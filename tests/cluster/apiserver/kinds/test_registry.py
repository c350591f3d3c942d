from dataclasses import replace

import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.registry import NoSuchPathError, Registry

WIDGETS = replace(BUILTIN[0], group="example.com", plural="widgets", kind="Widget", custom=True)


def test_resources_come_and_go() -> None:
    registry = Registry(BUILTIN)
    registry.add(WIDGETS, "example.com/v1")
    registry.add(replace(WIDGETS, version="v2"), "example.com/v1")
    assert registry.find("example.com", "v2", "widgets").version == "v2"
    assert registry.storage_version(replace(WIDGETS, version="v2")) == "example.com/v1"
    registry.remove("widgets.example.com")
    with pytest.raises(NoSuchPathError):
        registry.find("example.com", "v1", "widgets")
    assert registry.all() == list(BUILTIN)


def test_what_kubernetes_has_and_this_server_has_not_is_501() -> None:
    with pytest.raises(ApiError) as refusal:
        Registry(BUILTIN).find("networking.k8s.io", "v1", "ingresses")
    assert (refusal.value.code, "ingresses.networking.k8s.io" in refusal.value.message) == (501, True)
