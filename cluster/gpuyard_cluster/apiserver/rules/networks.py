"""Services, their endpoints, and roles.

Stands for `ValidateService`, `ValidateEndpointSlice` and `ValidateRole`, as far as clients rely
on them.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.containers import one_of

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_PORT_RULE = "must be between 1 and 65535, inclusive"
_HIGHEST_PORT = 65535


def service_faults(service: JSON) -> Iterator[Cause]:
    """Faults of a Service."""
    spec = service.get("spec", {})
    yield from one_of(spec, "type", _TYPES, "spec")
    if not spec.get("ports") and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield causes.required("spec.ports")
    several = len(spec.get("ports", ())) > 1
    for index, port in enumerate(spec.get("ports", ())):
        path = f"spec.ports[{index}]"
        if several and not port.get("name"):
            yield causes.required(f"{path}.name")
        for field in ("port", "targetPort"):
            number = port.get(field, 0)
            if isinstance(number, int) and not 0 < number <= _HIGHEST_PORT:
                yield causes.invalid(f"{path}.{field}", number, _PORT_RULE)


def endpoint_slice_faults(found: JSON) -> Iterator[Cause]:
    """Faults of an EndpointSlice."""
    if not found.get("addressType"):
        yield causes.required("addressType")
    yield from (
        Cause(cause.field.removeprefix("."), cause.reason, cause.message)
        for cause in one_of(found, "addressType", _ADDRESS_TYPES, "")
    )
    for index, endpoint in enumerate(found.get("endpoints", ())):
        if not endpoint.get("addresses"):
            yield causes.required(f"endpoints[{index}].addresses", "must contain at least 1 address")


def role_faults(role: JSON) -> Iterator[Cause]:
    """Faults of a Role or ClusterRole."""
    for index, rule in enumerate(role.get("rules", ())):
        path = f"rules[{index}]"
        if not rule.get("verbs"):
            yield causes.required(f"{path}.verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            continue
        for field in ("apiGroups", "resources"):
            if not rule.get(field):
                yield causes.required(f"{path}.{field}", "resource rules must supply at least one value")
