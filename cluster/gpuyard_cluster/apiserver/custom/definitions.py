"""CustomResourceDefinitions: the status of a valid one, and the resources that it adds.

Stands for the establishing and naming controllers of `k8s.io/apiextensions-apiserver`, and its mapping of a version
to a served resource. Versions differ in name and schema only; where a webhook would convert, which nobody calls here,
the version that is stored is served alone, and a condition says so.
"""

import copy
from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.custom.schemas import Schema
from gpuyard_cluster.apiserver.kinds.resources import Column, Resource, Subresource
from gpuyard_cluster.unsimulated import CONDITION

_SCALE_PATHS = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")


def establish(definition: JSON, now: str) -> None:
    """Accept the names and serve the resource, in place: the status that both controllers would write.

    `now` is the time as metav1.Time writes it.
    """
    spec, status = definition["spec"], definition.setdefault("status", {})
    stored = next(version["name"] for version in spec["versions"] if version.get("storage"))
    status["storedVersions"] = list(dict.fromkeys([*status.get("storedVersions", ()), stored]))
    status["acceptedNames"] = copy.deepcopy(spec["names"])
    if not status.get("conditions"):
        accepted = ("NamesAccepted", "NoConflicts", "no conflicts found")
        established = ("Established", "InitialNamesAccepted", "the initial names have been accepted")
        status["conditions"] = [_condition(*texts, now) for texts in (accepted, established)]
    if _is_converted(spec) and not any(found["type"] == CONDITION for found in status["conditions"]):
        text = f"no conversion webhook is called: {stored} is served alone"
        status["conditions"].append(_condition(CONDITION, "NotSimulated", text, now))


def resources_of(definition: JSON) -> list[Resource]:
    """The resources that a valid definition adds, one for each version that is served here."""
    spec = definition["spec"]
    served = [version for version in spec["versions"] if version.get("served")]
    if _is_converted(spec):
        served = [version for version in served if version["storage"]]
    return [_resource(spec, version) for version in served]


def _is_converted(spec: JSON) -> bool:
    several = sum(bool(version.get("served")) for version in spec["versions"]) > 1
    return several and spec.get("conversion", {}).get("strategy") == "Webhook"


def _condition(kind: str, reason: str, message: str, now: str) -> JSON:
    text = {"type": kind, "status": "True", "reason": reason, "message": message}
    return text | {"lastTransitionTime": now}


def _resource(spec: JSON, version: JSON) -> Resource:
    names = spec["names"]
    return Resource(
        group=spec["group"],
        version=version["name"],
        plural=names["plural"],
        kind=names["kind"],
        namespaced=spec["scope"] == "Namespaced",
        singular=names.get("singular", names["kind"].lower()),
        list_kind=names.get("listKind", f"{names['kind']}List"),
        short_names=tuple(names.get("shortNames", ())),
        subresources=tuple(_subresources(spec, version)),
        categories=tuple(names.get("categories", ())),
        columns=tuple(_column(column) for column in version.get("additionalPrinterColumns", ())),
        custom=True,
        selectable=tuple(field["jsonPath"].lstrip(".") for field in version.get("selectableFields", ())),
        schema=Schema(version["schema"]["openAPIV3Schema"]),
    )


def _subresources(spec: JSON, version: JSON) -> Iterator[Subresource]:
    wanted = version.get("subresources", {})
    if "status" in wanted:
        yield Subresource("status", spec["names"]["kind"], spec["group"], version["name"])
    if scale := wanted.get("scale"):
        paths = tuple((name, scale[name]) for name in _SCALE_PATHS if name in scale)
        yield Subresource("scale", "Scale", "autoscaling", "v1", paths=paths)


def _column(column: JSON) -> Column:
    return Column(
        name=column["name"],
        type=column["type"],
        json_path=column["jsonPath"],
        format=column.get("format", ""),
        description=column.get("description", ""),
        priority=column.get("priority", 0),
    )
