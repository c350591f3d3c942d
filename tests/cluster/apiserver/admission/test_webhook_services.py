from typing import Any

import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.consultation import Answer, Call, Failed
from tests.cluster.apiserver.admission.webhook_fakes import VALIDATING, hook
from tests.cluster.apiserver.calling import CONFIGS, Caller, config

DEFAULT = "/api/v1/namespaces/default"
SERVICE = {"namespace": "default", "name": "hooks", "path": "/check"}
META: JSON = {"metadata": {"name": "hooks"}}
PORT: JSON = {"name": "https", "port": 443}
SLICE: JSON = {
    "metadata": {"name": "hooks-1", "labels": {"kubernetes.io/service-name": "hooks"}},
    "addressType": "IPv4",
    "ports": [{"name": "metrics", "port": 1}, {"name": "https", "port": 9443}],
    "endpoints": [
        {"addresses": ["10.0.0.1"], "conditions": {"ready": False}},
        {"addresses": ["10.0.0.2"], "conditions": {"ready": True}},
    ],
}
SUBSETS = [{"addresses": [{"ip": "10.0.0.3"}], "ports": [{"name": "https", "port": 8443}]}]


def called(**service: Any) -> tuple[Caller, list[Call]]:
    """A server with a Service and a webhook that names it, and the calls that are made."""
    calls: list[Call] = []

    async def call(one: Call) -> Answer:
        calls.append(one)
        return Failed("not now")

    api = Caller(webhooks=call)
    api.make(f"{DEFAULT}/services", {**META, "spec": {"ports": [PORT]}})
    hooks = [hook("h", clientConfig={"service": {**SERVICE, **service}}, failurePolicy="Ignore")]
    api.make(VALIDATING, {"metadata": {"name": "a"}, "webhooks": hooks})
    return api, calls


def test_a_service_is_reached_at_a_ready_address_of_its_slices() -> None:
    api, calls = called()
    api.make("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", SLICE)
    api.make(CONFIGS, config("x"))
    assert (calls[0].url, calls[0].address) == ("https://hooks.default.svc:443/check", ("10.0.0.2", 9443))


def test_a_service_is_reached_at_its_endpoints_where_it_has_no_slices() -> None:
    api, calls = called()
    api.make(f"{DEFAULT}/endpoints", {**META, "subsets": SUBSETS})
    api.make(CONFIGS, config("x"))
    assert calls[0].address == ("10.0.0.3", 8443)


@pytest.mark.parametrize("service", [{}, {"name": "unknown"}, {"port": 444}])
def test_a_service_without_addresses_is_nowhere(service: JSON) -> None:
    api, calls = called(**service)
    api.make(CONFIGS, config("x"))
    assert calls[0].address == ("", 0)
