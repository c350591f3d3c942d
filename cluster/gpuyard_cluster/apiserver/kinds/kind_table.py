"""Writes `kinds.json`: the fields of the built-in kinds, read from the models of the Kubernetes client.

Stands for the generated Go types. `python -m gpuyard_cluster.apiserver.kinds.kind_table` rewrites the file; a server
reads the file only, because importing the client takes longer than starting a cluster.

A type is written `string`, `int`, `bool`, `number`, `time`, `microtime`, `quantity`, `bytes`, `any`, the name of
another table entry, `bool|T` for either, or `[]T` and `{}T` for lists and maps of it.
"""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN

TABLE = Path(__file__).with_name("kinds.json")

_SCALARS = {"str": "string", "int": "int", "bool": "bool", "float": "number", "object": "any"}
_SCALARS |= {"datetime": "time", "bytes": "bytes"}
# The client's models call these plain strings; in Go they are resource.Quantity and metav1.MicroTime.
_QUANTITIES = {
    "V1ResourceRequirements": ("limits", "requests"),
    "V1VolumeResourceRequirements": ("limits", "requests"),
    "V1PodSpec": ("overhead",),
    "V1PodStatus": ("allocatedResources",),
    "V1ContainerStatus": ("allocatedResources",),
    "V1NodeStatus": ("allocatable", "capacity"),
    "V1EmptyDirVolumeSource": ("sizeLimit",),
    "V1ResourceFieldSelector": ("divisor",),
    "V1PersistentVolumeClaimStatus": ("allocatedResources", "capacity"),
}
_SCHEMAS = {"items": "V1JSONSchemaProps", "additionalProperties": "bool|V1JSONSchemaProps"}
"""Fields of V1JSONSchemaProps that the client leaves untyped."""
_MICROTIMES = {"acquireTime", "renewTime", "eventTime", "lastObservedTime"}
_NEWER = """
    V1ClusterTrustBundleProjection.user V1ConfigMapVolumeSource.defaultUser V1CSINode.status
    V1DownwardAPIVolumeFile.user V1DownwardAPIVolumeSource.defaultUser V1EmptyDirVolumeSource.mode V1GRPCAction.mode
    V1HTTPGetAction.protocol V1JobSpec.scheduling V1KeyToPath.user V1NodeAllocatableResourceClaimStatus.mapping
    V1NodeAllocatableResourceClaimStatus.overhead V1NodeSpec.podPreemptionPolicy
    V1NodeSystemInfo.runningInUserNamespace V1PersistentVolumeClaimStatus.healthStatus
    V1PodCertificateProjection.user V1PodSpec.evictionResponders V1PodStatus.volumeHealth
    V1ProjectedVolumeSource.defaultUser V1SecretVolumeSource.defaultUser V1ServiceAccountTokenProjection.user
    V1VolumeMount.bindMountOptions
"""
NEWER = frozenset(_NEWER.split())
"""Fields that the client knows and kube-apiserver 1.36 does not, by its OpenAPI documents."""
_SHARED_NAMES = {"v1/Event": "CoreV1Event", "events.k8s.io/v1/Event": "EventsV1Event"}
"""A kind that two groups have carries the group's name in the client."""


def build() -> dict[str, Any]:
    """`{"kinds": {"v1/Pod": "V1Pod", ...}, "types": {"V1Pod": {"spec": "V1PodSpec", ...}, ...}}`."""
    models = importlib.import_module("kubernetes.client.models")
    named = {f"{group_version}/{kind}": _model_name(group_version, kind) for group_version, kind in served()}
    kinds = {key: name for key, name in sorted(named.items()) if hasattr(models, name)}
    types: dict[str, dict[str, str]] = {}
    waiting = sorted(set(kinds.values()))
    while waiting:
        name = waiting.pop()
        if name not in types:
            types[name] = _fields(name, getattr(models, name))
            waiting += [
                found
                for text in types[name].values()
                if (found := text.strip("[]{}").removeprefix("bool|"))[0].isupper()
            ]
    return {"kinds": kinds, "types": dict(sorted(types.items()))}


def served() -> Iterator[tuple[str, str]]:
    """(group and version, kind) of everything that a built-in resource or a part of one takes."""
    for resource in BUILTIN:
        yield resource.api_version, resource.kind
        for part in resource.subresources:
            yield f"{part.group}/{part.version}" if part.group else part.version, part.kind


def _model_name(group_version: str, kind: str) -> str:
    return _SHARED_NAMES.get(f"{group_version}/{kind}", f"V1{kind}")


def _fields(name: str, model: Any) -> dict[str, str]:
    pairs = ((model.attribute_map[key], text) for key, text in model.openapi_types.items())
    known = {field: text for field, text in sorted(pairs) if f"{name}.{field}" not in NEWER}
    return {field: _type(name, field, text) for field, text in known.items()}


def _type(model: str, field: str, text: str) -> str:
    if many := re.fullmatch(r"List\[(.+)]", text):
        return "[]" + _type(model, field, many[1])
    if mapping := re.fullmatch(r"Dict\[str, (.+)]", text):
        return "{}" + _type(model, field, mapping[1])
    if model == "V1JSONSchemaProps" and field in _SCHEMAS:
        return _SCHEMAS[field]
    if text == "str" and field in _QUANTITIES.get(model, ()):
        return "quantity"
    if text == "datetime" and field in _MICROTIMES:
        return "microtime"
    return _SCALARS.get(text, text)


if __name__ == "__main__":
    TABLE.write_bytes(orjson.dumps(build(), option=orjson.OPT_INDENT_2) + b"\n")
