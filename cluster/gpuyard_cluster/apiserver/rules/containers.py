"""Containers and volumes of a pod.

Stands for `validateContainers`, `validateInitContainers` and `ValidateVolumes`.
"""

import re
from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import label_fault
from gpuyard_cluster.apiserver.rules.resources import requirement_faults

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_HIGHEST_PORT = 65535
_VARIABLE = re.compile(r"[ -<>-~]+")


def container_faults(spec: JSON, path: str) -> Iterator[Cause]:
    """Faults of all containers of a pod spec."""
    if not spec.get("containers"):
        yield causes.required(f"{path}.containers")
    names: set[str] = set()
    volumes = {volume.get("name") for volume in spec.get("volumes", ())}
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group, ())):
            place = f"{path}.{group}[{index}]"
            yield from _name(container, names, place)
            yield from _container(container, place)
            yield from _mounts(container, volumes, place)


def volume_faults(spec: JSON, path: str) -> Iterator[Cause]:
    """Faults of the volumes of a pod spec."""
    names: set[str] = set()
    for index, volume in enumerate(spec.get("volumes", ())):
        place = f"{path}.volumes[{index}]"
        yield from _name(volume, names, place)
        if len(volume.keys() - {"name"}) > 1:
            yield causes.forbidden(place, "may not specify more than 1 volume type")


def _name(named: JSON, seen: set[str], path: str) -> Iterator[Cause]:
    """A DNS label that no other of its kind has; `seen` is added to."""
    name = named.get("name", "")
    if not name:
        yield causes.required(f"{path}.name")
    elif fault := label_fault(name):
        yield causes.invalid(f"{path}.name", name, fault)
    elif name in seen:
        yield causes.duplicate(f"{path}.name", name)
    seen.add(name)


def _container(container: JSON, path: str) -> Iterator[Cause]:
    image = container.get("image", "")
    if not image:
        yield causes.required(f"{path}.image")
    elif image != image.strip():
        yield causes.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")
    yield from one_of(container, "imagePullPolicy", _PULL_POLICIES, path)
    yield from one_of(container, "terminationMessagePolicy", _MESSAGE_POLICIES, path)
    yield from requirement_faults(container.get("resources", {}), f"{path}.resources")
    yield from _ports(container, path)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            yield from _probe_faults(container[probe], f"{path}.{probe}")
    for index, variable in enumerate(container.get("env", ())):
        name = variable.get("name", "")
        if not name:
            yield causes.required(f"{path}.env[{index}].name")
        elif not _VARIABLE.fullmatch(name):
            detail = "a name must consist only of printable ASCII characters other than '='"
            yield causes.invalid(f"{path}.env[{index}].name", name, detail)
        if variable.get("value") and variable.get("valueFrom"):
            detail = "may not be specified when `value` is not empty"
            yield causes.invalid(f"{path}.env[{index}].valueFrom", "", detail)


def _probe_faults(probe: JSON, path: str) -> Iterator[Cause]:
    handlers = probe.keys() & {"exec", "grpc", "httpGet", "tcpSocket"}
    if not handlers:
        yield causes.required(path, "must specify a handler type")
    elif len(handlers) > 1:
        yield causes.forbidden(path, "may not specify more than 1 handler type")
    for field in (
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ):
        if probe.get(field, 0) < 0:
            yield causes.invalid(f"{path}.{field}", probe[field], "must be greater than or equal to 0")


def _ports(container: JSON, path: str) -> Iterator[Cause]:
    for index, port in enumerate(container.get("ports", ())):
        place = f"{path}.ports[{index}]"
        number = port.get("containerPort", 0)
        if not number:
            yield causes.required(f"{place}.containerPort")
        elif not 0 < number <= _HIGHEST_PORT:
            yield causes.invalid(f"{place}.containerPort", number, "must be between 1 and 65535, inclusive")
        yield from one_of(port, "protocol", _PROTOCOLS, place)


def _mounts(container: JSON, volumes: set[str | None], path: str) -> Iterator[Cause]:
    for index, mount in enumerate(container.get("volumeMounts", ())):
        place, name = f"{path}.volumeMounts[{index}]", mount.get("name")
        if not name:
            yield causes.required(f"{place}.name")
        elif name not in volumes:
            yield Cause(f"{place}.name", "FieldValueNotFound", f"Not found: {causes.shown(name)}")
        if not mount.get("mountPath"):
            yield causes.required(f"{place}.mountPath")


def one_of(owner: JSON, field: str, choices: tuple[str, ...], path: str) -> Iterator[Cause]:
    """A field that takes one of a closed list of values, where it is set."""
    value = owner.get(field)
    if value is not None and value not in choices:
        yield causes.unsupported(f"{path}.{field}", value, choices)
