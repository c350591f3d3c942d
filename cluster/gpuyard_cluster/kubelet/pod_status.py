"""The status of a pod, as its kubelet writes it.

Stands for the kubelet's status manager. The ids that a container holds are in allocatedResourcesStatus of app
containers that run: nobody learns them anywhere else in the API. Times that were written stay.
"""

from typing import Any

from gpuyard.pods.amounts import ContainerKind, containers_of
from gpuyard.writes import JSON
from gpuyard_cluster import unsimulated
from gpuyard_cluster.kubelet.admission import Refusal
from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.node_status import address
from gpuyard_cluster.kubelet.runs import End, History, Run
from gpuyard_kube.timestamps import rfc3339

CONDITIONS = "conditions"
CANNOT_CREATE = "CreateContainerConfigError"
_NOT_READY = "ContainersNotReady"


def refused_status(refusal: Refusal) -> JSON:
    """Of a pod that was not admitted."""
    return {"phase": "Failed", "reason": refusal.reason, "message": refusal.message}


def waiting_status(pod: JSON, started: Started, devices: Devices, host: str) -> JSON:
    """Of an admitted pod whose containers do not run yet: it has its devices, and says so."""
    status = running_status(pod, started, History(Run(started.at)), devices, host)
    waiting = {"reason": "ContainerCreating"}
    if started.waits:
        waiting = {"reason": CANNOT_CREATE, "message": started.waits}
    for found in [*status.get("initContainerStatuses", ()), *status["containerStatuses"]]:
        del found["containerID"]
        found |= {"ready": False, "started": False, "state": {"waiting": waiting}, "lastState": {}}
    unready = _conditions(pod, _NOT_READY, started.at, ended=False)
    return {**status, "phase": "Pending", CONDITIONS: unready}


def running_status(pod: JSON, started: Started, history: History, devices: Devices, host: str) -> JSON:
    """Of a pod whose containers run, or wait for their next run. `host` is the node's address."""
    status = _status(pod, started, history, host)
    for found in status["containerStatuses"]:
        held = _devices_status(pod, found["name"], devices)
        if held:
            found["allocatedResourcesStatus"] = held
    present = history.present
    since = present.since if present.end is None else present.end.at
    unready = "" if present.end is None else _NOT_READY
    return {"phase": "Running", **status, "conditions": _conditions(pod, unready, since, ended=False)}


def ended_status(pod: JSON, started: Started, history: History, host: str) -> JSON:
    """Of a pod whose containers have ended for good."""
    status, end = _status(pod, started, history, host), history.present.end or End(started.at, 0)
    unready = _NOT_READY if end.code else "PodCompleted"
    phase = "Failed" if end.code else "Succeeded"
    return {"phase": phase, **status, "conditions": _conditions(pod, unready, end.at, ended=True)}


def differs(pod: JSON, desired: JSON) -> bool:
    """Whether the pod's status still has to be written; when conditions changed is no difference."""
    status = pod.get("status") or {}
    conditions = {found.get("type"): found for found in status.get("conditions") or ()}
    for wanted in desired.get("conditions", ()):
        found = conditions.get(wanted["type"], {})
        if any(found.get(key) != value for key, value in wanted.items() if key != "lastTransitionTime"):
            return True
    return any(status.get(key) != value for key, value in desired.items() if key != "conditions")


def _status(pod: JSON, started: Started, history: History, host: str) -> JSON:
    ip = address("10.0", pod["metadata"]["uid"])
    statuses: dict[str, list[JSON]] = {"initContainerStatuses": [], "containerStatuses": []}
    done = History(Run(started.at, End(started.at, 0)))
    for kind, container in containers_of(pod):
        part = "containerStatuses" if kind is ContainerKind.APP else "initContainerStatuses"
        found = _container_status(pod, container, done if kind is ContainerKind.INIT else history)
        # An init container that has ended well counts as ready.
        found["ready"] = kind is ContainerKind.INIT or "running" in found["state"]
        statuses[part].append(found)
    if not statuses["initContainerStatuses"]:
        del statuses["initContainerStatuses"]
    return {
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": rfc3339(started.at),
        **_observed(pod),
        **statuses,
    }


def _container_status(pod: JSON, container: JSON, history: History) -> JSON:
    image, name = container.get("image", ""), container["name"]
    found: JSON = {
        "name": name,
        "image": image,
        "imageID": image,
        "containerID": f"gpuyard://{pod['metadata']['uid']}-{name}",
        "restartCount": history.restarts,
        **_states(pod, name, history),
    }
    resources = container.get("resources") or {}
    allocated = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    asked = {key: resources[key] for key in ("limits", "requests") if resources.get(key)}
    return {**found, "allocatedResources": allocated, "resources": asked} if allocated else found


def _states(pod: JSON, container: str, history: History) -> JSON:
    """The state of now and the one before."""
    present, previous = history.present, history.previous
    if present.end is None:
        state: JSON = {"running": {"startedAt": rfc3339(present.since)}}
    elif history.over:
        state = _terminated(present.since, present.end)
    else:
        state, previous = {"waiting": _crashing(pod, container, history)}, present
    last = {} if previous is None or previous.end is None else _terminated(previous.since, previous.end)
    return {"started": present.end is None, "state": state, "lastState": last}


def _crashing(pod: JSON, container: str, history: History) -> JSON:
    metadata = pod["metadata"]
    whose = f"pod={metadata['name']}_{metadata['namespace']}({metadata['uid']})"
    message = f"back-off {_span(history.back_off)} restarting failed container={container} {whose}"
    return {"reason": "CrashLoopBackOff", "message": message}


def _span(seconds: int) -> str:
    """As Go writes a duration: `40s`, `1m20s`, `5m0s`."""
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60}s"


def _devices_status(pod: JSON, container: str, devices: Devices) -> list[JSON]:
    """The ids that a container holds, sorted, with their health: the truth about who has which device."""
    return [
        {
            "name": held.resource,
            "resources": [
                {"resourceID": device, "health": devices.health(held.resource, device)}
                for device in sorted(held.ids)
            ],
        }
        for held in devices.of_pod(pod["metadata"]["uid"])
        if held.container == container
    ]


def _terminated(started: float, end: End) -> JSON:
    reason = "Error" if end.code else "Completed"
    times = {"startedAt": rfc3339(started), "finishedAt": rfc3339(end.at)}
    return {"terminated": {"exitCode": end.code, "reason": reason, **times}}


def _conditions(pod: JSON, unready: str, since: float, *, ended: bool) -> list[JSON]:
    """`unready` is the reason why the pod is not ready; empty when it is."""
    old = {found.get("type"): found for found in (pod.get("status") or {}).get("conditions") or ()}
    told: JSON = {"reason": unready} if unready else {}
    if unready == _NOT_READY:
        names = " ".join(container["name"] for container in pod["spec"]["containers"])
        told["message"] = f"containers with unready status: [{names}]"
    completed = {"reason": unready} if unready == "PodCompleted" else {}
    wanted: dict[str, tuple[bool, JSON]] = {
        "PodReadyToStartContainers": (not ended, {}),  # the sandbox of what only waits stays
        "Initialized": (True, completed),
        "Ready": (not unready, told),
        "ContainersReady": (not unready, told),
        "PodScheduled": (True, {}),
    }
    seen = _observed(pod)
    own = [
        {**_condition(kind, truth, said, old.get(kind, {}), since), **seen}
        for kind, (truth, said) in wanted.items()
    ]
    return [*own, *unsimulated.conditions(pod, since)]


def _observed(pod: JSON) -> JSON:
    """The version of the pod's spec that this is the status of."""
    generation = pod["metadata"].get("generation")
    return {"observedGeneration": generation} if generation else {}


def _condition(kind: str, truth: bool, said: JSON, old: dict[str, Any], since: float) -> JSON:
    status = "True" if truth else "False"
    kept = old.get("lastTransitionTime") if old.get("status") == status else None
    # An explicit null takes away what a scheduler wrote while the pod was not bound.
    told = {key: None for key in ("reason", "message") if old.get(key)} | said
    return {"type": kind, "status": status, **told, "lastTransitionTime": kept or rfc3339(since)}
