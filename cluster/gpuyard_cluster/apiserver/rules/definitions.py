"""CustomResourceDefinitions.

Stands for `ValidateCustomResourceDefinition` of `k8s.io/apiextensions-apiserver`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.custom import schema_rules
from gpuyard_cluster.apiserver.custom.schema_validation import violations
from gpuyard_cluster.apiserver.custom.structural import children, structural_faults
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import label_fault, subdomain_fault

_SCOPES = ("Cluster", "Namespaced")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_SCALE_PATHS = {
    "specReplicasPath": (".spec",),
    "statusReplicasPath": (".status",),
    "labelSelectorPath": (".spec", ".status"),
}
"""Under what the paths of the scale subresource must lie."""


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
    if spec.get("conversion", {}).get("strategy", "None") != "None":
        detail = "the embedded API server converts between versions by name only (strategy None)"
        yield causes.invalid("spec.conversion.strategy", spec["conversion"]["strategy"], detail)
    yield from _version_faults(spec.get("versions", []))


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


def _name_faults(names: JSON) -> Iterator[Cause]:
    for field in ("plural", "singular", "kind", "listKind"):
        value = names.get(field, "")
        if not value:
            yield causes.required(f"spec.names.{field}")
        elif fault := label_fault(value if field == "plural" else value.lower()):
            yield causes.invalid(f"spec.names.{field}", value, fault)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield causes.invalid(
            "spec.names.listKind", names["listKind"], "kind and listKind may not be the same"
        )
    for index, short in enumerate(names.get("shortNames", ())):
        if fault := label_fault(short):
            yield causes.invalid(f"spec.names.shortNames[{index}]", short, fault)


def _version_faults(versions: list[JSON]) -> Iterator[Cause]:
    storing = [version for version in versions if version.get("storage")]
    if len(storing) != 1:
        detail = "must have exactly one version marked as storage version"
        yield causes.invalid("spec.versions", [version.get("name") for version in versions], detail)
    if len({version.get("name") for version in versions}) != len(versions):
        detail = "must contain unique version names"
        yield causes.invalid("spec.versions", [version.get("name") for version in versions], detail)
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        if fault := label_fault(version.get("name", "")):
            yield causes.invalid(f"{path}.name", version.get("name", ""), fault)
        yield from _schema_faults(version, path, hoisted=len(versions) == 1)
        yield from _column_faults(version, path)


def _schema_faults(version: JSON, path: str, hoisted: bool) -> Iterator[Cause]:
    """kube-apiserver lifts what all versions share to the top of its internal form, and names it there."""
    schema = version.get("schema", {}).get("openAPIV3Schema")
    if schema is None:
        yield causes.required(f"{path}.schema.openAPIV3Schema", "schemas are required")
        return
    place = "spec.validation.openAPIV3Schema" if hoisted else f"{path}.schema.openAPIV3Schema"
    found = list(structural_faults(schema, place))
    yield from found or (*schema_rules.definition_faults(schema, place), *_default_faults(schema, place))


def _default_faults(schema: JSON, path: str) -> Iterator[Cause]:
    """A default must be a value that its schema allows."""
    if "default" in schema:
        rest = {key: value for key, value in schema.items() if key != "default"}
        yield from violations(schema["default"], rest, f"{path}.default")
    for step, child in children(schema):
        yield from _default_faults(child, f"{path}.{step}")


def _column_faults(version: JSON, path: str) -> Iterator[Cause]:
    for index, column in enumerate(version.get("additionalPrinterColumns", ())):
        place = f"{path}.additionalPrinterColumns[{index}]"
        for field in ("name", "type", "jsonPath"):
            if not column.get(field):
                yield causes.required(f"{place}.{field}")
        if column.get("type") and column["type"] not in _COLUMN_TYPES:
            yield causes.unsupported(f"{place}.type", column["type"], _COLUMN_TYPES)
        if not column.get("jsonPath", ".").startswith("."):
            yield causes.invalid(
                f"{place}.jsonPath", column["jsonPath"], "must be a simple json path starting with ."
            )
    for index, selectable in enumerate(version.get("selectableFields", ())):
        if not selectable.get("jsonPath", "").startswith("."):
            detail = "must be a simple json path starting with ."
            place = f"{path}.selectableFields[{index}].jsonPath"
            yield causes.invalid(place, selectable.get("jsonPath", ""), detail)
    for field, text in version.get("subresources", {}).get("scale", {}).items():
        if not text.startswith(_SCALE_PATHS[field]):
            detail = f"should be a json path under {' or '.join(_SCALE_PATHS[field])}"
            yield causes.invalid(f"{path}.subresources.scale.{field}", text, detail)
