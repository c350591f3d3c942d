"""Discovery: which groups, versions and resources there are.

Stands for the discovery endpoints of kube-apiserver, in both forms: the legacy documents, one for each group and
version, and the aggregated one. Documents follow from the resources alone.
"""

import re
from collections.abc import Iterable, Sequence

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.resources import Resource, Subresource

_STAGES = {"": 2, "beta": 1, "alpha": 0}


def document(path: str, resources: Sequence[Resource], *, aggregated: bool) -> JSON | None:
    """The document at a discovery path such as `/apis/apps`; None where there is none.

    `aggregated` asks for the form that covers all groups at once, which `/api` and `/apis` alone have.
    """
    match [part for part in path.split("/") if part]:
        case ["api"]:
            return _aggregated(_in_group(resources, "")) if aggregated else _core_versions()
        case ["apis"]:
            named = [resource for resource in resources if resource.group]
            return _aggregated(named) if aggregated else _group_list(named)
        case ["api", version]:
            return _resource_list(_in_group(resources, ""), version)
        case ["apis", group]:
            found = _in_group(resources, group) if group else []
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, found)} if found else None
        case ["apis", group, version]:
            return _resource_list(_in_group(resources, group), version) if group else None
    return None


def versions(resources: Iterable[Resource]) -> list[str]:
    """The versions of some resources, the preferred one first: v2, v1, v1beta1, v1alpha1."""
    return sorted({resource.version for resource in resources}, key=_maturity, reverse=True)


def _maturity(version: str) -> tuple[int, int, int, str]:
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if found is None:
        return -1, 0, 0, version
    return _STAGES[found[2] or ""], int(found[1]), int(found[3] or 0), version


def _in_group(resources: Iterable[Resource], group: str) -> list[Resource]:
    return [resource for resource in resources if resource.group == group]


def _groups(resources: Iterable[Resource]) -> list[str]:
    return list(dict.fromkeys(resource.group for resource in resources))


def _core_versions() -> JSON:
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def _group_list(resources: Sequence[Resource]) -> JSON:
    groups = [_group(name, _in_group(resources, name)) for name in _groups(resources)]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(name: str, resources: Iterable[Resource]) -> JSON:
    found = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions(resources)]
    return {"name": name, "versions": found, "preferredVersion": found[0]}


def _resource_list(resources: Iterable[Resource], version: str) -> JSON | None:
    served = sorted((resource for resource in resources if resource.version == version), key=_plural)
    if not served:
        return None
    entries = [entry for resource in served for entry in _legacy(resource)]
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": served[0].api_version}
    return {**head, "resources": entries}


def _plural(resource: Resource) -> str:
    return resource.plural


def _legacy(resource: Resource) -> Iterable[JSON]:
    entry: JSON = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": sorted(resource.verbs),
    }
    yield entry | _names(resource)
    for part in sorted(resource.subresources, key=_name):
        yield _legacy_part(resource, part)


def _name(part: Subresource) -> str:
    return part.name


def _legacy_part(resource: Resource, part: Subresource) -> JSON:
    entry: JSON = {
        "name": f"{resource.plural}/{part.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
    }
    if (part.group, part.version) != (resource.group, resource.version):
        entry |= {"group": part.group, "version": part.version}
    return entry | {"kind": part.kind, "verbs": sorted(part.verbs)}


def _names(resource: Resource) -> JSON:
    found = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {key: value for key, value in found.items() if value}


def _aggregated(resources: Sequence[Resource]) -> JSON:
    items = [_aggregated_group(name, _in_group(resources, name)) for name in _groups(resources)]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _aggregated_group(name: str, resources: Sequence[Resource]) -> JSON:
    found = []
    for version in versions(resources):
        served = sorted((resource for resource in resources if resource.version == version), key=_plural)
        entries = [_aggregated_resource(resource) for resource in served]
        found.append({"version": version, "resources": entries, "freshness": "Current"})
    metadata = {"name": name, "creationTimestamp": None} if name else {"creationTimestamp": None}
    return {"metadata": metadata, "versions": found}


def _aggregated_resource(resource: Resource) -> JSON:
    kind = _response_kind(resource, resource.group, resource.version, resource.kind)
    entry: JSON = {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": sorted(resource.verbs),
    }
    parts = [_aggregated_part(resource, part) for part in sorted(resource.subresources, key=_name)]
    return entry | _names(resource) | ({"subresources": parts} if parts else {})


def _response_kind(resource: Resource, group: str, version: str, kind: str) -> JSON:
    """What the real server says only where it is not the resource's own, or the resource a custom one."""
    if not resource.custom and (group, version) == (resource.group, resource.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}


def _aggregated_part(resource: Resource, part: Subresource) -> JSON:
    kind = _response_kind(resource, part.group, part.version, part.kind)
    return {"subresource": part.name, "responseKind": kind, "verbs": sorted(part.verbs)}
