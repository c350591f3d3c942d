"""The versions of a CustomResourceDefinition: their schemas, columns, selectable fields and subresources.

Stands for the parts of `ValidateCustomResourceDefinition` that concern versions. Law: what all versions have alike is
named at the top, where kube-apiserver's internal form keeps it.
"""

from collections.abc import Iterator
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.custom import schema_rules
from gpuyard_cluster.apiserver.custom.schema_validation import violations
from gpuyard_cluster.apiserver.custom.structural import children, structural_faults
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import dns1035_fault

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_SELECTABLE_TYPES = ("boolean", "integer", "string")
_MOST_SELECTABLE = 8
_SCALE_PATHS = {
    "specReplicasPath": (".spec.",),
    "statusReplicasPath": (".status.",),
    "labelSelectorPath": (".spec.", ".status."),
}
"""Under what the paths of the scale subresource must lie."""


def faults(versions: list[JSON]) -> Iterator[Cause]:
    """Every fault of the versions of a definition."""
    names = [version.get("name", "") for version in versions]
    if sum(1 for version in versions if version.get("storage")) != 1:
        yield causes.invalid(
            "spec.versions", names, "must have exactly one version marked as storage version"
        )
    if len(set(names)) != len(names):
        yield causes.invalid("spec.versions", names, "must contain unique version names")
    if names and (fault := dns1035_fault(names[0])):
        yield causes.invalid("spec.version", names[0], fault)
    for index, name in enumerate(names):
        if fault := dns1035_fault(name):
            yield causes.invalid(f"spec.versions[{index}].name", name, fault)
    for path, version in _places(versions, "schema"):
        yield from _schema_faults(version, path)
    for path, version in _places(versions, "additionalPrinterColumns"):
        for index, column in enumerate(version.get("additionalPrinterColumns", ())):
            yield from _column_faults(column, f"{path}.additionalPrinterColumns[{index}]")
    for path, version in _places(versions, "selectableFields"):
        yield from _selectable_faults(version, f"{path}.selectableFields")
    for path, version in _places(versions, "subresources"):
        if (scale := version.get("subresources", {}).get("scale")) is not None:
            yield from _scale_faults(scale, f"{path}.subresources.scale")


def _places(versions: list[JSON], part: str) -> Iterator[tuple[str, JSON]]:
    """Where the part of each version is named; one place for all where they have it alike."""
    found = [version.get(part) for version in versions]
    if found and found[0] and found.count(found[0]) == len(found):
        yield "spec", versions[0]
        return
    for index, version in enumerate(versions):
        yield f"spec.versions[{index}]", version


def _schema_faults(version: JSON, path: str) -> Iterator[Cause]:
    schema = version.get("schema", {}).get("openAPIV3Schema")
    if schema is None:
        yield causes.required(f"{path}.schema.openAPIV3Schema", "schemas are required")
        return
    place = f"{path}.{'validation' if path == 'spec' else 'schema'}.openAPIV3Schema"
    found = list(structural_faults(schema, place))
    yield from found or (*schema_rules.definition_faults(schema, place), *_default_faults(schema, place))


def _default_faults(schema: JSON, path: str) -> Iterator[Cause]:
    """A default must be a value that its schema allows."""
    if "default" in schema:
        rest = {key: value for key, value in schema.items() if key != "default"}
        yield from violations(schema["default"], rest, f"{path}.default")
    for step, child in children(schema):
        yield from _default_faults(child, f"{path}.{step}")


def _column_faults(column: JSON, path: str) -> Iterator[Cause]:
    place = f"{path}.JSONPath"  # so the real server calls it
    if not column.get("name"):
        yield causes.required(f"{path}.name")
    kinds = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column.get("type"):
        yield causes.required(f"{path}.type", kinds)
    elif column["type"] not in _COLUMN_TYPES:
        yield causes.invalid(f"{path}.type", column["type"], kinds)
    if not column.get("jsonPath"):
        yield causes.required(place)
    elif not column["jsonPath"].startswith("."):
        yield causes.invalid(place, column["jsonPath"], "must be a simple json path starting with .")


def _selectable_faults(version: JSON, path: str) -> Iterator[Cause]:
    found = version.get("selectableFields", ())
    schema = version.get("schema", {}).get("openAPIV3Schema") or {}
    if len(found) > _MOST_SELECTABLE:
        yield causes.too_many(path, len(found), _MOST_SELECTABLE)
    paths = [selectable.get("jsonPath", "") for selectable in found]
    for index, text in enumerate(paths):
        place = f"{path}[{index}].jsonPath"
        if not text:
            yield causes.required(place)
        elif why := _unselectable(text, schema):
            yield causes.invalid(place, text, why)
        elif text in paths[:index]:
            yield causes.duplicate(place, text)


def _unselectable(text: str, schema: Any) -> str:
    """Why the field at a path cannot be selected by; empty when it can."""
    first, *steps = text.split(".")
    if first or not steps:
        return "is an invalid path: must be a simple json path starting with ."
    if steps[0] == "metadata":
        return "must not point to fields in metadata"
    for step in steps:
        schema = schema.get("properties", {}).get(step)
        if schema is None:
            return f"is an invalid path: does not refer to a valid field: {step}"
    return (
        ""
        if schema.get("type") in _SELECTABLE_TYPES
        else "must point to a field of type string, boolean or integer"
    )


def _scale_faults(scale: JSON, path: str) -> Iterator[Cause]:
    for field, roots in _SCALE_PATHS.items():
        text = scale.get(field, "")
        if not text and field != "labelSelectorPath":
            yield causes.required(f"{path}.{field}")
        elif text and not text.startswith(roots):
            detail = f"should be a json path under {' or '.join(root.rstrip('.') for root in roots)}"
            yield causes.invalid(f"{path}.{field}", text, detail)
