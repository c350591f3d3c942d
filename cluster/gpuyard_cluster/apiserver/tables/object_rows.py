"""Nodes, events, services and the like in one line, as kubectl shows them.

Stands for the printers of kube-apiserver. Each function gives the cells after the name at a time.
"""

from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.event_groups import as_core
from gpuyard_cluster.apiserver.tables import ages
from gpuyard_cluster.apiserver.tables.cells import NONE, age, joined, pairs, spec_of, status_of


def node(node: JSON, now: float) -> list[Any]:
    status, labels = status_of(node), node["metadata"].get("labels") or {}
    ready = next((item for item in status.get("conditions", ()) if item.get("type") == "Ready"), None)
    state = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    if spec_of(node).get("unschedulable"):
        state += ",SchedulingDisabled"
    prefix = "node-role.kubernetes.io/"
    roles = sorted(label.removeprefix(prefix) for label in labels if label.startswith(prefix))
    info = status.get("nodeInfo", {})
    addresses = {item.get("type"): item.get("address") for item in status.get("addresses", ())}
    return [
        state, joined(roles), age(node, now), info.get("kubeletVersion", ""),
        addresses.get("InternalIP", NONE), addresses.get("ExternalIP", NONE), info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>", info.get("containerRuntimeVersion") or "<unknown>",
    ]  # fmt: skip


def event(event: JSON, now: float) -> list[Any]:
    if "regarding" in event:
        event = as_core(event)
    about, source = event.get("involvedObject", {}), event.get("source", {})
    first = event.get("firstTimestamp") or event.get("eventTime")
    last = event.get("series", {}).get("lastObservedTime") or event.get("lastTimestamp") or first
    parts = [source.get("component") or event.get("reportingComponent"), source.get("host")]
    return [
        ages.age(last, now), event.get("type", ""), event.get("reason", ""),
        f"{about.get('kind', '').lower()}/{about.get('name', '')}", about.get("fieldPath", ""),
        ", ".join(part for part in parts if part), event.get("message", "").strip(), ages.age(first, now),
        event.get("series", {}).get("count") or event.get("count") or 1, event["metadata"].get("name", ""),
    ]  # fmt: skip


def service(service: JSON, now: float) -> list[Any]:
    spec = spec_of(service)
    ports = [f"{item.get('port')}/{item.get('protocol', 'TCP')}" for item in spec.get("ports", ())]
    external = spec.get("externalName") or joined(spec.get("externalIPs", ()))
    selector = pairs(spec.get("selector", {}))
    cluster = spec.get("clusterIP") or NONE
    return [spec.get("type", "ClusterIP"), cluster, external, joined(ports), age(service, now), selector]


def config_map(obj: JSON, now: float) -> list[Any]:
    return [_entries(obj), age(obj, now)]


def secret(obj: JSON, now: float) -> list[Any]:
    return [obj.get("type", "Opaque"), _entries(obj), age(obj, now)]


def _entries(obj: JSON) -> int:
    return len(obj.get("data") or {}) + len(obj.get("binaryData") or {})


def namespace(obj: JSON, now: float) -> list[Any]:
    return [status_of(obj).get("phase", ""), age(obj, now)]


def lease(obj: JSON, now: float) -> list[Any]:
    return [spec_of(obj).get("holderIdentity", ""), age(obj, now)]


def budget(obj: JSON, now: float) -> list[Any]:
    spec = spec_of(obj)
    bounds = [str(spec.get(name, "N/A")) for name in ("minAvailable", "maxUnavailable")]
    return [*bounds, status_of(obj).get("disruptionsAllowed", 0), age(obj, now)]


def priority_class(obj: JSON, now: float) -> list[Any]:
    policy = obj.get("preemptionPolicy", "PreemptLowerPriority")
    return [obj.get("value", 0), obj.get("globalDefault", False), age(obj, now), policy]
