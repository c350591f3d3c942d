"""Which registrations of device plugins the kubelet takes."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.kubelet import node_status
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.registrations import problem
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import RegisterRequest

PARTS = st.lists(
    st.sampled_from(
        ["a", "B", "9", "-", "_", ".", "/", " ", "\u00e9", "kubernetes.io", "requests.", "x" * 64]
    ),
    max_size=6,
).map("".join)


def said(resource: str = "example.com/widget", endpoint: str = "x.sock", version: str = "v1beta1") -> str:
    return problem(RegisterRequest(version=version, endpoint=endpoint, resource_name=resource))


def test_a_plugin_as_all_are_may_register() -> None:
    assert said() == said("nvidia.com/mig-1g.5gb.me") == ""


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"version": "v1alpha"}, "v1alpha"),
        ({"version": ""}, "API version"),
        ({"endpoint": ""}, "Endpoint"),
        ({"endpoint": "../x.sock"}, "Endpoint"),
    ],
)
def test_a_refusal_names_the_field(changes: dict[str, str], named: str) -> None:
    assert named in said(**changes)


@pytest.mark.parametrize(
    "resource",
    ["", "/", "a/", "/a", "gpu", "a/b/c", "a.b/c d", "A.b/c", "\u00e9.b/c", "a.b/-c", "kubernetes.io/gpu",
     "x.kubernetes.io/gpu", "requests.example.com/gpu", "a.b/" + "c" * 64, "a" * 250 + "/c"],
)  # fmt: skip
def test_what_is_no_extended_resource_is_refused(resource: str) -> None:
    assert "ResourceName" in said(resource)


@settings(deadline=None, max_examples=150)
@given(PARTS, PARTS)
def test_the_api_server_takes_a_node_with_every_resource_that_may_register(domain: str, name: str) -> None:
    resource = f"{domain}/{name}"
    if said(resource):
        return
    machine = Machine("node-1", {}, {"cpu": "8", "memory": "32Gi", "pods": "110"})
    write = node_status.registration(machine, Devices({resource: {"d0": True}}, frozenset(), ()), 0.0)
    request = Request(
        write.method, write.path, {}, {"content-type": "application/json"}, orjson.dumps(write.body)
    )
    answer = APIServer(lambda: 0.0).handle(request)
    assert answer.status == 201, answer.body
