"""A policy decides the same on every backend, and what it keeps free is there for those who come later."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gpuyard import yard
from gpuyard.writes import JSON
from gpuyard_cli.backends import running
from gpuyard_cli.scenarios import scenario
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cluster.wiring.parts import Options

DYNAMIC = {"version": "v1", "flags": {"migStrategy": "dynamic"}}
GPUS = {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}
NODES = yard.parse({"nodes": [{"name": f"node-{n}", "gpus": GPUS, "plugin": DYNAMIC} for n in (1, 2)]})
FILL = {"one-7g": ("7g.40gb", "node-1"), "two-4g": ("4g.20gb", "node-2"), "two-2g": ("2g.10gb", "node-2")}
"""Of node-1 one GPU is taken and one untouched; of node-2 one is untouched, and one has a single slice left."""
KEPT = {
    "small": {"phase": "Running", "node": "node-2", "devices": {"infer": ["0:6"]}},
    "large-1": {"phase": "Running", "devices": {"infer": ["1:0"]}},
    "large-2": {"phase": "Running", "devices": {"infer": ["1:0"]}},
}
BROKEN = {
    "small": {"phase": "Running", "node": "node-1", "devices": {"infer": ["1:6"]}},
    "large-1": {"phase": "Running", "node": "node-2", "devices": {"infer": ["1:0"]}},
    "large-2": {"phase": "Pending", "code": "NoMIGPlacement"},
}


def instance(name: str, profile: str, node: str = "") -> JSON:
    container = {"name": "infer", "image": "busybox:1.36", "command": ["sh", "-c", "exec sleep 3600"]}
    spec: JSON = {
        "terminationGracePeriodSeconds": 1,
        "containers": [container | {"resources": {"limits": {f"nvidia.com/mig-{profile}": 1}}}],
    }
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    metadata = {"name": name, "namespace": "holes"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def example(expected: Mapping[str, JSON]) -> Example:
    """Nodes that are in use, a small instance, and then two that need a whole GPU each."""
    objects = {"namespace": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "holes"}}}
    objects |= {name: instance(name, *wanted) for name, wanted in FILL.items()}
    objects |= {name: instance(name, "1g.5gb" if name == "small" else "7g.40gb") for name in expected}
    came: list[JSON] = [
        {"name": name, "apply": [name], "expect": {"pods": {name: seen}}} for name, seen in expected.items()
    ]
    ran = {name: {"phase": "Running"} for name in FILL}
    begun = {"name": "in use", "apply": ["namespace", *FILL], "expect": {"pods": ran}}
    told = {"title": "Holes", "namespace": "holes", "steps": [begun, *came]}
    files = {name: (obj,) for name, obj in objects.items()}
    return Example(Path("holes"), NODES, scenario.parse("scenario.yaml", told), files)


@pytest.mark.parametrize("backend", ["steps", "embedded"])
def test_a_small_instance_goes_where_it_costs_no_large_one_its_place(backend: str) -> None:
    found = running.run(example(KEPT), backend, options=Options(policy="mig-holes"))
    assert found.faults == ()


def test_by_the_count_of_free_places_alone_it_breaks_the_last_whole_gpu_but_one() -> None:
    assert running.run(example(BROKEN), "steps", options=Options(policy="pack")).faults == ()
