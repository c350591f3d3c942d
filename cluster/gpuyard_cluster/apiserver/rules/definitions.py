"""CustomResourceDefinitions.

Stands for `ValidateCustomResourceDefinition` of `k8s.io/apiextensions-apiserver`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes, definition_versions
from gpuyard_cluster.apiserver.rules.names import dns1035_fault, subdomain_fault

_SCOPES = ("Cluster", "Namespaced")
_STRATEGIES = ("None", "Webhook")


def definition_faults(definition: JSON) -> Iterator[Cause]:
    """Every fault of a definition."""
    spec = definition.get("spec", {})
    group, names, name = (
        spec.get("group", ""),
        spec.get("names", {}),
        definition.get("metadata", {}).get("name", ""),
    )
    if not group:
        yield causes.required("spec.group")
    elif (fault := subdomain_fault(group)) or "." not in group:
        yield causes.invalid("spec.group", group, fault or "should be a domain with at least one dot")
    if name != f"{names.get('plural', '')}.{group}":
        yield causes.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if not spec.get("scope"):
        yield causes.required("spec.scope")
    elif spec["scope"] not in _SCOPES:
        yield causes.unsupported("spec.scope", spec.get("scope", ""), _SCOPES)
    yield from _name_faults(names)
    yield from _conversion_faults(spec.get("conversion", {}))
    if spec.get("preserveUnknownFields"):
        detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in the schemas instead"
        yield causes.invalid("spec.preserveUnknownFields", True, detail)
    versions = spec.get("versions", [])
    yield from definition_versions.faults(versions)
    yield from _stored_faults(versions, definition.get("status", {}).get("storedVersions", []))


def update_faults(old: JSON, new: JSON) -> list[Cause]:
    """Every fault of a change from `old` to `new`."""
    found = list(definition_faults(new))
    for path in ("group", "scope"):
        if new["spec"].get(path) != old["spec"].get(path):
            found.append(causes.invalid(f"spec.{path}", new["spec"].get(path), "field is immutable"))
    for name in ("kind", "plural"):
        value = new["spec"].get("names", {}).get(name)
        if value != old["spec"]["names"].get(name):
            found.append(causes.invalid(f"spec.names.{name}", value, "field is immutable"))
    return found


def _conversion_faults(conversion: JSON) -> Iterator[Cause]:
    strategy, webhook = conversion.get("strategy", "None"), conversion.get("webhook", {})
    if strategy not in _STRATEGIES:
        yield causes.unsupported("spec.conversion.strategy", strategy, _STRATEGIES)
    if strategy != "Webhook":
        return
    # The paths are those of the internal version, as kube-apiserver says them.
    if not webhook.get("clientConfig"):
        yield causes.required(
            "spec.conversion.webhookClientConfig", "required when strategy is set to Webhook"
        )
    if not webhook.get("conversionReviewVersions"):
        yield causes.required("spec.conversion.conversionReviewVersions")


def _name_faults(names: JSON) -> Iterator[Cause]:
    for field in ("plural", "singular", "kind", "listKind"):
        value = names.get(field, "")
        if not value:
            yield causes.required(f"spec.names.{field}")
        elif fault := dns1035_fault(value if field == "plural" else value.lower()):
            yield causes.invalid(f"spec.names.{field}", value, fault)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield causes.invalid(
            "spec.names.listKind", names["listKind"], "kind and listKind may not be the same"
        )
    for index, short in enumerate(names.get("shortNames", ())):
        if fault := dns1035_fault(short):
            yield causes.invalid(f"spec.names.shortNames[{index}]", short, fault)


def _stored_faults(versions: list[JSON], kept: list[str]) -> Iterator[Cause]:
    """What objects are stored in, or were, must go on being a version; `kept` are those of the status."""
    left = list(
        dict.fromkeys([*kept, *(version.get("name", "") for version in versions if version.get("storage"))])
    )
    if not left:
        yield causes.invalid("status.storedVersions", [], "must have at least one stored version")
    for version in versions:
        name = version.get("name", "")
        if name in left:
            left.remove(name)
        elif version.get("storage"):
            yield causes.invalid("status.storedVersions", name, f"must have the storage version {name}")
    for index, name in enumerate(left):
        yield causes.invalid(f"status.storedVersions[{index}]", name, "must appear in spec.versions")
