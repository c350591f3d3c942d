"""Where a webhook listens: at its URL, or at the Service that its configuration names.

Stands for the webhook client's ServiceResolver. Law: a Service is reached at the first ready address of its
EndpointSlices or Endpoints, since there is no kube-proxy here; one without any is reached nowhere, which is said.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.backend import Backend

NOWHERE = ("", 0)
"""The address of a Service that has none."""


def reach(backend: Backend, client: JSON) -> tuple[str, tuple[str, int] | None]:
    """The URL of a clientConfig, and the address to connect to where the URL does not say it."""
    service = client.get("service")
    if service is None:
        return client.get("url", ""), None
    namespace, name, port = service["namespace"], service["name"], service.get("port", 443)
    url = f"https://{name}.{namespace}.svc:{port}{service.get('path', '')}"
    return url, next(_addresses(backend, namespace, name, port), NOWHERE)


def _addresses(backend: Backend, namespace: str, name: str, port: int) -> Iterator[tuple[str, int]]:
    service = backend.store.get("services", f"{namespace}/{name}")
    ports = service.obj.get("spec", {}).get("ports", ()) if service is not None else ()
    named = next((found.get("name", "") for found in ports if found.get("port") == port), None)
    if named is None:
        return
    for stored in backend.store.scan("endpointslices.discovery.k8s.io", f"{namespace}/"):
        labels = stored.obj["metadata"].get("labels", {})
        if labels.get("kubernetes.io/service-name") == name:
            yield from _of_slice(stored.obj, named)
    endpoints = backend.store.get("endpoints", f"{namespace}/{name}")
    for subset in endpoints.obj.get("subsets", ()) if endpoints is not None else ():
        hosts = [str(found["ip"]) for found in subset.get("addresses", ())]
        yield from ((host, number) for host in hosts for number in _numbers(subset, named))


def _of_slice(found: JSON, named: str) -> Iterator[tuple[str, int]]:
    for endpoint in found.get("endpoints", ()):
        if endpoint.get("conditions", {}).get("ready", True):
            hosts = endpoint.get("addresses", ())
            yield from ((host, number) for host in hosts for number in _numbers(found, named))


def _numbers(found: JSON, named: str) -> list[int]:
    """The numbers of the port of that name."""
    ports = [port for port in found.get("ports", ()) if port.get("name", "") == named]
    return [port["port"] for port in ports if "port" in port]
