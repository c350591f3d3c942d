"""A yard that was exported as kubectl prints it, and imported, is the same yard."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuyard import vocabulary
from gpuyard.hardware.presets import presets
from gpuyard.writes import JSON, PatchType, Write
from gpuyard.yard import parse
from gpuyard_cli.imported import cluster
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cluster.wiring.steps import StepsYard

A100 = "NVIDIA-A100-SXM4-40GB"
SHARED = {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}
YARD: list[dict[str, Any]] = [
    *({"name": name, "preset": name, "labels": {"rack": "r1"}} for name in presets()),
    {"name": "sliced", "preset": "t4", "plugin": {"sharing": {"timeSlicing": SHARED}}},
    {"name": "mps", "preset": "t4", "plugin": {"sharing": {"mps": {**SHARED, "renameByDefault": False}}}},
    {
        "name": "single",
        "gpus": {"model": A100, "count": 2},
        "mig": [{"gpus": [0, 1], "instances": {"1g.5gb": 7}}],
        "plugin": {"flags": {"migStrategy": "single"}},
    },
    {
        "name": "half",
        "gpus": {"model": A100, "count": 4},
        "mig": [{"gpus": [2, 3], "instances": {"3g.20gb": 2}}],
        "plugin": {"flags": {"migStrategy": "mixed"}},
    },
    {"name": "cpus", "capacity": {"cpu": "8", "memory": "16Gi"}},
]


def pod(name: str, node: str, **spec: Any) -> JSON:
    limits = {} if node == "cpus" else {"nvidia.com/gpu": "1"}
    container = {"name": "c", "image": "x", "resources": {"limits": limits}}
    where = {"kubernetes.io/hostname": node}
    return {"metadata": {"name": name}, "spec": {"nodeSelector": where, "containers": [container], **spec}}


def send(running: StepsYard, write: Write) -> None:
    assert running.clock.complete(running.api.send(write)).ok
    running.settle()


def export(running: StepsYard) -> JSON:
    """As `kubectl get nodes,pods -A -o json`."""
    items = [
        {"apiVersion": "v1", "kind": kind, **item}
        for path, kind in (("/api/v1/nodes", "Node"), ("/api/v1/pods", "Pod"))
        for item in running.clock.complete(running.api.read(path)).body["items"]
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.fixture(scope="module")
def exported() -> JSON:
    with closing(StepsYard(parse({"nodes": YARD}))) as running:
        running.settle()
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        send(running, Write("POST", classes, {"metadata": {"name": "high"}, "value": 9}))
        pods = "/api/v1/namespaces/default/pods"
        for node in ("cpus", "t4", "dgx-h100"):
            send(running, Write("POST", pods, pod(f"on-{node}", node, priorityClassName="high")))
        marks = {"spec": {"unschedulable": True, "taints": [{"key": "a", "effect": "NoSchedule"}]}}
        send(running, Write("PATCH", "/api/v1/nodes/half", marks, PatchType.MERGE))
        return export(running)


def imported(exported: JSON, folder: Path, *, known: bool = True) -> tuple[JSON, list[str]]:
    """The export of a yard that was made of an export; not `known`: without our own inventories."""
    found = json.loads(json.dumps(exported))
    for item in found["items"]:
        if item["kind"] == "Node" and not known:
            del item["metadata"]["annotations"][vocabulary.INVENTORY]
    file = folder / "cluster.json"
    file.write_text(json.dumps(found))
    read = cluster.read(file)
    with closing(StepsYard(read.nodes)) as running:
        running.settle()
        running.clock.complete(cluster.restore(running.api, read))
        running.settle()
        return export(running), read.notes.lines()


def seen(exported: JSON) -> dict[str, Any]:
    nodes = {
        item["metadata"]["name"]: (item["status"]["allocatable"], item["metadata"]["labels"], item["spec"])
        for item in exported["items"]
        if item["kind"] == "Node"
    }
    pods = {
        item["metadata"]["name"]: (
            item["spec"]["nodeName"],
            item["spec"]["priority"],
            item["status"]["phase"],
        )
        for item in exported["items"]
        if item["kind"] == "Pod"
    }
    return nodes | pods


def devices(exported: JSON) -> dict[str, Any]:
    return {
        item["metadata"]["name"]: item["status"]["containerStatuses"][0].get("allocatedResourcesStatus")
        for item in exported["items"]
        if item["kind"] == "Pod"
    }


def test_a_yard_comes_back_with_its_nodes_pods_and_devices(exported: JSON, tmp_path: Path) -> None:
    again, notes = imported(exported, tmp_path)
    assert seen(again) == seen(exported)
    assert devices(again) == devices(exported)
    assert notes == []


def test_labels_and_counts_alone_give_the_same_allocatable(exported: JSON, tmp_path: Path) -> None:
    again, notes = imported(exported, tmp_path, known=False)
    assert seen(again) == seen(exported)
    assert any("in no label" in note for note in notes)


def test_yaml_is_read_too_and_single_objects(exported: JSON, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    nodes = [item for item in exported["items"] if item["kind"] == "Node"]
    file.write_text(yaml.safe_dump_all(nodes))
    assert {node.name for node in cluster.read(file).nodes} == {node["name"] for node in YARD}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("kind: List\nitems: []", "there is no node in it; give what `kubectl get nodes,pods"),
        ("kind: List\nitems: 7", "document 0: items[0]: neither a node nor a pod"),
        ("kind: Service\nmetadata: {name: x}", "document 0: items[0]: neither a node nor a pod"),
        ("kind: Node\nmetadata: {name: x, labels: 7}", "a node or pod cannot be read"),
        ("kind: Node\nmetadata: {name: x}\nstatus: {capacity: {nvidia.com/gpu: no}}", "cannot be read"),
        ("kind: Node\nmetadata: {name: x}\nstatus: {allocatable: {cpu: much}}", "cannot be read"),
    ],
)
def test_what_is_no_export_of_a_cluster_is_refused_in_one_line(
    content: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(content)
    with pytest.raises(InvalidInputError) as refused:
        cluster.read(file)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
