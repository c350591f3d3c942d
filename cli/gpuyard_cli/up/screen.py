"""What `gpuyard up` shows once everything runs: one screen."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON

_NODE_LINES = 8


@dataclass(frozen=True, slots=True)
class Running:
    """What runs. `nodes` are names with what each has."""

    version: str
    url: str
    extender: str
    kubeconfig: Path
    nodes: Sequence[tuple[str, Inventory]]
    notes: Sequence[str] = ()


def to_json(running: Running) -> JSON:
    """All of it, for programs."""
    offered = {name: Counter(device.resource for device in found.devices()) for name, found in running.nodes}
    return {
        "version": running.version,
        "server": running.url,
        "extender": running.extender,
        "page": f"{running.extender}/ui/",
        "kubeconfig": str(running.kubeconfig),
        "nodes": [{"name": name, "devices": dict(devices)} for name, devices in offered.items()],
        "notes": list(running.notes),
    }


def screen(running: Running, seconds: float) -> Iterator[str]:
    """All of it, and three commands to try."""
    count = len(running.nodes)
    yield f"Kubernetes {running.version} with {count} node{'s' * (count != 1)}, ready in {seconds:.1f} s"
    yield from (f"  {line}" for line in _node_lines(running.nodes))
    yield f"API server at {running.url}, GPU extender at {running.extender};"
    yield f"the live yard, a page for your browser: {running.extender}/ui/;"
    yield "scheduler, controllers, gang operator, a kubelet and a device plugin for each node"
    yield from (f"note: {line}" for line in running.notes)
    yield from ["", "In another terminal", f"  export KUBECONFIG={running.kubeconfig}", "  kubectl get nodes"]
    yield from [f"  {_run_command(running.nodes)}", "  kubectl logs try", "", "Ctrl-C ends it all."]


def _node_lines(nodes: Sequence[tuple[str, Inventory]]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for name, inventory in nodes:
        alike.setdefault(_devices(inventory), []).append(name)
    for number, (devices, names) in enumerate(alike.items()):
        if number == _NODE_LINES:
            yield f"and {len(alike) - _NODE_LINES} more kinds of nodes"
            return
        yield f"{names[0] if len(names) == 1 else f'{names[0]} … {names[-1]}'}: {devices}"


def _devices(inventory: Inventory) -> str:
    models = Counter(gpu.model for gpu in inventory.gpus)
    offered = Counter(device.resource for device in inventory.devices())
    gpus = ", ".join(f"{count} x {model}" for model, count in models.items()) or "no GPUs"
    return gpus + "".join(f", {count} {resource}" for resource, count in sorted(offered.items()))


def _run_command(nodes: Sequence[tuple[str, Inventory]]) -> str:
    """A pod that gets a device of the first kind that there is."""
    devices = (device.resource for _, inventory in nodes for device in inventory.devices())
    resource = next(devices, None)
    limits = {"resources": {"limits": {resource: 1}}} if resource else {}
    container = {"name": "try", "image": "busybox:1.36", **limits}
    overrides = json.dumps({"spec": {"containers": [container]}}, separators=(",", ":"))
    return f"kubectl run try --image=busybox:1.36 --overrides='{overrides}'"
