"""Where kube-scheduler finds the active extender: the EndpointSlice of a Service without a selector, as values.

Stands for the endpoint slice controller. A plain write of the holder's moves all calls within milliseconds, to a pod
or to a laptop alike, and kube-scheduler needs no restart.
"""

from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON, Write

SLICES: Final = f"/apis/discovery.k8s.io/v1/namespaces/{vocabulary.NAMESPACE}/endpointslices"


@dataclass(frozen=True, slots=True)
class Address:
    """Where an extender listens, as the cluster's nodes reach it. `ip` is not a name: an EndpointSlice takes none."""

    ip: str
    port: int

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"

    @property
    def family(self) -> str:
        return "IPv6" if ":" in self.ip else "IPv4"


def endpoint_slice(address: Address) -> JSON:
    """The EndpointSlice that leads to the address."""
    labels = {
        "kubernetes.io/service-name": vocabulary.EXTENDER,
        "endpointslice.kubernetes.io/managed-by": vocabulary.EXTENDER,
    }
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": vocabulary.EXTENDER, "namespace": vocabulary.NAMESPACE, "labels": labels},
        "addressType": address.family,
        "endpoints": [{"addresses": [address.ip], "conditions": {"ready": True}}],
        "ports": [{"name": "http", "port": address.port, "protocol": "TCP"}],
    }


def publication(address: Address, found: JSON | None) -> Write | None:
    """What to write so that the Service leads to the address; None when the EndpointSlice `found` does."""
    wanted = endpoint_slice(address)
    if found is None:
        return Write("POST", SLICES, wanted)
    if leads_to(found) == leads_to(wanted):
        return None
    path = f"{SLICES}/{vocabulary.EXTENDER}"
    if found.get("addressType") != address.family:
        return Write("DELETE", path)  # the family of a slice cannot change: it is made anew
    version = (found.get("metadata") or {}).get("resourceVersion", "")
    return Write("PUT", path, {**wanted, "metadata": {**wanted["metadata"], "resourceVersion": version}})


def leads_to(found: JSON) -> list[tuple[str, int]]:
    """The addresses and ports of an EndpointSlice."""
    ports = [port.get("port") for port in found.get("ports") or ()]
    return [
        (address, port)
        for endpoint in found.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint.get("addresses") or ()
        for port in ports
    ]
