"""Defaults of pods and pod templates.

Stands for `SetDefaults_Pod*` and `SetDefaults_Container` of `k8s.io/kubernetes/pkg/apis/core/v1`, and for the
admission plugins DefaultTolerationSeconds and ServiceAccount (without the token volume: no kubelet here mounts it).
"""

from collections.abc import Iterator

from gpuyard.pods.quantities import parse
from gpuyard.writes import JSON

_SPEC = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
}
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_TOKEN_SECONDS = 3600
_FILE_MODE = 0o644
_EVICTED_AFTER = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATION_SECONDS = 300
_QOS_RESOURCES = ("cpu", "memory")


def default_pod(pod: JSON) -> None:
    """Fill in a pod, in place."""
    spec = pod.setdefault("spec", {})
    for container in containers(spec):
        _default_requests(container)
    spec.setdefault("enableServiceLinks", True)
    _default_account(spec, spec.get("serviceAccountName") or spec.get("serviceAccount"))
    default_pod_spec(spec)
    _default_addresses(pod.get("status", {}))


def _default_addresses(status: JSON) -> None:
    """The first of several addresses, and the only one."""
    for one, several in (("podIP", "podIPs"), ("hostIP", "hostIPs")):
        if one in status and not status.get(several):
            status[several] = [{"ip": status[one]}]


def admit_pod(pod: JSON) -> None:
    """What admission adds to a pod, in place: nobody owns it in managedFields."""
    spec = pod["spec"]
    if "serviceAccountName" not in spec:
        _default_account(spec, "default")
    _default_tolerations(spec)


def _default_account(spec: JSON, name: str | None) -> None:
    """The account in both of its fields."""
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def default_pod_spec(spec: JSON) -> None:
    """Fill in the spec of a pod or of a pod template, in place."""
    for key, value in _SPEC.items():
        spec.setdefault(key, value)
    spec.setdefault("securityContext", {})
    for container in containers(spec):
        _default_container(container)
    for volume in spec.get("volumes", ()):
        _default_volume(volume)


def containers(spec: JSON) -> Iterator[JSON]:
    """Init containers, then containers."""
    yield from spec.get("initContainers", ())
    yield from spec.get("containers", ())


def qos_class(spec: JSON) -> str:
    """Guaranteed, Burstable or BestEffort, from CPU and memory of all containers."""
    resources = [container.get("resources", {}) for container in containers(spec)]
    asked = [part.get(side, {}) for part in resources for side in ("requests", "limits")]
    if not any(parse(side[name]).nano for side in asked for name in _QOS_RESOURCES if name in side):
        return "BestEffort"
    guaranteed = all(
        name in part.get("limits", {}) and part.get("requests", {}).get(name) == part["limits"][name]
        for part in resources
        for name in _QOS_RESOURCES
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _default_requests(container: JSON) -> None:
    resources = container.setdefault("resources", {})
    if limits := resources.get("limits"):
        resources["requests"] = limits | resources.get("requests", {})


def _default_container(container: JSON) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
    for port in container.get("ports", ()):
        port.setdefault("protocol", "TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := container.get(name):
            container[name] = _PROBE | probe
            _default_handler(container[name])
    for hook in (container.get("lifecycle") or {}).values():
        _default_handler(hook)
    for variable in container.get("env", ()):
        if field := variable.get("valueFrom", {}).get("fieldRef"):
            field.setdefault("apiVersion", "v1")


def _default_handler(handler: JSON) -> None:
    """What a probe or a lifecycle hook asks."""
    if request := handler.get("httpGet"):
        handler["httpGet"] = {"path": "/", "scheme": "HTTP", **request}
    if "grpc" in handler:
        handler["grpc"].setdefault("service", "")


def _pull_policy(image: str) -> str:
    name, digest, _ = image.partition("@")
    _, _, tag = name.rpartition("/")[2].partition(":")
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _default_volume(volume: JSON) -> None:
    sources = volume.keys() - {"name"}
    if not sources:
        volume["emptyDir"] = {}
    projected = volume.get("projected", {}).get("sources", ())
    for part in (volume, *projected):
        for item in part.get("downwardAPI", {}).get("items", ()):
            item.get("fieldRef", {"apiVersion": ""}).setdefault("apiVersion", "v1")
        if "serviceAccountToken" in part:
            part["serviceAccountToken"].setdefault("expirationSeconds", _TOKEN_SECONDS)
    for source in sources & {"secret", "configMap", "projected", "downwardAPI"}:
        volume[source].setdefault("defaultMode", _FILE_MODE)
    if "hostPath" in sources:
        volume["hostPath"].setdefault("type", "")


def _default_tolerations(spec: JSON) -> None:
    present = spec.get("tolerations", [])
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATION_SECONDS}
        for key in _EVICTED_AFTER
        if not any(_tolerates_eviction(toleration, key) for toleration in present)
    ]
    if added:
        spec["tolerations"] = [*present, *added]


def _tolerates_eviction(toleration: JSON, key: str) -> bool:
    return (toleration.get("key", key), toleration.get("effect", "NoExecute")) == (key, "NoExecute")
