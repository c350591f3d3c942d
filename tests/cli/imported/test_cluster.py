"""A yard that was exported as kubectl prints it, and imported, is the same yard."""

import contextlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.groups import queues
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


NODE = "kind: Node\nmetadata: {name: x}"


def pod(name: str, node: str, **spec: Any) -> JSON:
    limits = {} if node == "cpus" else {"nvidia.com/gpu": "1"}
    container = {"name": "c", "image": "x", "resources": {"limits": limits}}
    where = {"kubernetes.io/hostname": node}
    return {"metadata": {"name": name}, "spec": {"nodeSelector": where, "containers": [container], **spec}}


def send(running: StepsYard, write: Write) -> None:
    assert running.clock.complete(running.api.send(write)).ok
    running.settle()


def export(running: StepsYard) -> JSON:
    """As `kubectl get nodes,pods,queues,podgroups -A -o json`."""
    items = [
        {"kind": kind, **item}
        for path, kind in (
            *(("/api/v1/nodes", "Node"), ("/api/v1/pods", "Pod"), (queues.PATH, "Queue")),
            (f"/apis/{vocabulary.POD_GROUP_API}/podgroups", "PodGroup"),
        )
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


def test_gangs_and_queues_come_back_with_those_who_run_and_those_who_wait(tmp_path: Path) -> None:
    with closing(StepsYard(parse({"nodes": [{"name": "node-1", "preset": "t4"}]}))) as running:
        running.settle()
        spec = {"quota": {vocabulary.GPU: 1}, "models": {"T4": 1}}
        queue = {"apiVersion": "gpuyard.io/v1alpha1", "kind": "Queue", "metadata": {"name": "team"}}
        send(running, Write("POST", queues.PATH, {**queue, "spec": spec}))
        for group in ("first", "second"):
            metadata = {"name": group, "annotations": {vocabulary.QUEUE: "team"}}
            kind = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup"}
            path = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/default/podgroups"
            send(running, Write("POST", path, {**kind, "metadata": metadata, "spec": {"minMember": 1}}))
            member = pod(group, "node-1")
            member["metadata"]["labels"] = {vocabulary.POD_GROUP: group}
            send(running, Write("POST", "/api/v1/namespaces/default/pods", member))
        known = export(running)
    again, notes = imported(known, tmp_path)
    assert waiting(again) == waiting(known) == {"first": "Running", "second": "Pending: QuotaExceeded"}
    assert [note.rpartition(": ")[2] for note in notes] == ["default/first, default/second"]


def waiting(exported: JSON) -> dict[str, str]:
    """The phases of pods, and why their groups wait."""
    by_kind = {(item["kind"], item["metadata"]["name"]): item for item in exported["items"]}
    return {
        name: pod["status"]["phase"] + "".join(f": {found['reason']}" for found in conditions)
        for (kind, name), pod in by_kind.items()
        if kind == "Pod"
        for conditions in [
            [
                found
                for found in by_kind["PodGroup", name]["status"]["conditions"]
                if found["type"] == "Scheduled" and found["status"] != "True"
            ]
        ]
    }


def test_what_nothing_is_made_of_is_named(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    volcano = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}}
    file.write_text(yaml.safe_dump_all([yaml.safe_load(NODE), volcano]))
    [note] = cluster.read(file).notes.lines()
    assert note == "objects of which nothing is made are left out: PodGroup g"


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, 7, "x", [], [7], [{}], {"a": 7}, {"nvidia.com/gpu": [1]}, True, -1.5, "\ud83d\ude00"]
)
FIELDS = (
    *("metadata.labels", "metadata.annotations", "metadata.ownerReferences", "metadata.namespace"),
    *("metadata.deletionTimestamp", "metadata.creationTimestamp", "spec", "spec.taints", "spec.containers"),
    *("spec.nodeName", "spec.priorityClassName", "spec.schedulingGates", "spec.minMember", "spec.quota"),
    *("status", "status.capacity", "status.allocatable", "status.phase"),
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["Node", "Pod", "PodGroup", "Queue"]), st.sampled_from(FIELDS), ODD)
def test_whatever_stands_in_a_field_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: str, field: str, odd: object
) -> None:
    obj: Any = {"kind": kind, "metadata": {"name": "odd"}, "spec": {}}
    part, _, name = field.partition(".")
    obj[part] = {**(obj.get(part) or {}), name: odd} if name else odd
    file = tmp_path_factory.getbasetemp() / "odd.json"
    file.write_text(json.dumps({"kind": "List", "items": [yaml.safe_load(NODE), obj]}))
    with contextlib.suppress(InvalidInputError):
        cluster.read(file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("kind: List\nitems: []", "there is no node in it; give what `kubectl get nodes,pods"),
        ("kind: List\nitems: 7", "document 0: items: a list of objects is needed; give"),
        ("[7]", "document 0: neither a node nor a pod"),
        ("kind: Service\nmetadata: {name: x}", "there is no node in it"),
        (
            "kind: Node\nmetadata: {name: x, labels: 7}",
            "Node x: metadata.labels: an object of texts is needed",
        ),
        ("kind: Node\nmetadata: {name: x}\nspec: {taints: [7]}", "Node x: spec.taints: a list of objects"),
        ("kind: Node\nmetadata: {name: a/b c}", "Node: metadata.name: 'a/b c' is no name of an object"),
        (
            "kind: Node\nmetadata: {name: x, labels: {a b: c}}",
            "Node x: metadata.labels: a b: c is not a label; give",
        ),
        (
            "kind: Node\nmetadata: {name: x, labels: {a: -}}",
            "Node x: metadata.labels: a: - is not a label; give",
        ),
        (f"kind: Node\nmetadata: {{name: {'x' * 64}}}", "metadata.name: it is longer than 63"),
        (
            f"{NODE}\nstatus: {{allocatable: {{a b: 1}}}}",
            "Node x: status.allocatable: 'a b' is not a resource",
        ),
        (f"{NODE}\n---\n{NODE}", "document 1: Node x is there twice; remove one"),
        (f"{NODE}\n---\nkind: Pod\nmetadata: {{name: p}}", "document 1: Pod p: spec: an object is needed"),
        (
            f"{NODE}\n---\nkind: Pod\nmetadata: {{name: p, namespace: [7]}}",
            "metadata.namespace: [7] is no name",
        ),
        (f"{NODE}\nstatus: {{capacity: {{nvidia.com/gpu: no}}}}", "Node x: quantity False must be"),
        (
            f"{NODE}\nstatus: {{allocatable: {{cpu: much}}}}",
            "Node x: status.allocatable.cpu: quantity 'much' must",
        ),
        (f"{NODE}\nstatus: {{allocatable: {{cpu: -1}}}}", "status.allocatable.cpu: -1 is less than nothing"),
        (
            f"{NODE}\nstatus: {{capacity: {{nvidia.com/gpu: 2000}}}}",
            "status.capacity: 2000 GPUs, where a node",
        ),
        (f"{NODE}\nstatus: {{capacity: {{nvidia.com/gpu: 1e15}}}}", "where a node has 100000 at most"),
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
