"""Examples as a user would write them: a folder with one good example, and what a test changes of it."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

YARD: Any = {"nodes": [{"name": "node-1", "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}}]}
SCENARIO: Any = {
    "title": "One pod",
    "namespace": "default",
    "steps": [
        {"name": "it runs", "apply": ["pod.yaml"], "expect": {"pods": {"train": {"phase": "Running"}}}}
    ],
}


def pod(name: str = "train", limits: Mapping[str, Any] | None = None) -> Any:
    """A pod with one container; limits by resource, one `nvidia.com/gpu` where none are given."""
    resources = {"limits": limits or {"nvidia.com/gpu": 1}}
    container = {"name": "main", "image": "busybox:1.36", "command": ["sleep"], "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container]},
    }


def scenario(*steps: Any, **fields: Any) -> Any:
    """The good scenario with other steps or fields."""
    return copy.deepcopy(SCENARIO) | ({"steps": list(steps)} if steps else {}) | fields


def step(**fields: Any) -> Any:
    """The one step of the good scenario with other fields."""
    return copy.deepcopy(SCENARIO["steps"][0]) | fields


def write_example(
    folder: Path, *, yard: Any = YARD, scenario: Any = SCENARIO, objects: Mapping[str, Any] | None = None
) -> Path:
    """The folder with its files; a text is written as it is, all else as YAML."""
    (folder / "objects").mkdir(parents=True, exist_ok=True)
    _write(folder / "yard.yaml", yard)
    _write(folder / "scenario.yaml", scenario)
    for name, content in (objects if objects is not None else {"pod.yaml": pod()}).items():
        _write(folder / "objects" / name, content)
    return folder


def _write(path: Path, content: Any) -> None:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
