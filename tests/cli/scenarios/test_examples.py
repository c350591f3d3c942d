"""An example is checked as a whole before anything runs."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios.examples import load
from tests.cli.written import YARD, pod, scenario, step, write_example

A100 = "NVIDIA-A100-SXM4-40GB"


def refused(folder: Path) -> str:
    with pytest.raises(InvalidInputError) as found:
        load(folder)
    return str(found.value).removeprefix(f"{folder}/")


def node(**fields: Any) -> Any:
    return {"name": "node-1", "gpus": {"model": A100, "count": 1}} | fields


def test_a_good_example_is_loaded_as_a_whole(tmp_path: Path) -> None:
    example = load(write_example(tmp_path / "07-mine"))
    assert example.name == "07-mine"
    assert [found.name for found in example.nodes] == ["node-1"]
    assert example.scenario.title == "One pod"
    assert [found["metadata"]["name"] for found in example.objects["pod.yaml"]] == ["train"]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no such folder; name one of examples/"):
        load(tmp_path / "absent")


def test_a_folder_of_examples_is_no_example(tmp_path: Path) -> None:
    write_example(tmp_path / "07-mine")
    with pytest.raises(InvalidInputError, match="it has no yard.yaml; name a folder such as"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("yard", "said"),
    [
        ("nodes: [", "yard.yaml: line 2: "),
        ("", "yard.yaml: 0 documents; write exactly one"),
        ("a: 1\n---\nb: 2\n", "yard.yaml: 2 documents; write exactly one"),
        ({"nodes": [node(gpuz=1)]}, "yard.yaml: nodes[0].gpuz: unknown key; use "),
        (
            {"nodes": [node(plugin={"flags": {"migStrategy": "multi"}})]},
            "yard.yaml: nodes[0].plugin.flags.migStrategy: 'multi' is unknown; use none, single, mixed",
        ),
        (
            {
                "nodes": [
                    node(name="other"),
                    node(
                        gpus={"model": A100, "count": 2},
                        mig=[{"gpus": [0], "instances": {"1g.5gb": 1}}],
                        plugin={"flags": {"migStrategy": "single"}},
                    ),
                ]
            },
            "yard.yaml: nodes[1].plugin.flags.migStrategy: all devices on the node must be configured with the same "
            "migEnabled value; put all GPUs in MIG mode",
        ),
        (
            {
                "nodes": [
                    node(
                        plugin={
                            "flags": {"migStrategy": "mixed"},
                            "sharing": {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}},
                        }
                    )
                ]
            },
            "yard.yaml: nodes[0].plugin.sharing.mps: MPS does not go with migStrategy mixed; use migStrategy none",
        ),
    ],
)
def test_a_yard_that_makes_no_sense_is_refused(tmp_path: Path, yard: Any, said: str) -> None:
    assert refused(write_example(tmp_path, yard=yard)).startswith(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("kind: [", "line 2: did not find expected node content; write valid YAML"),
        ("- a\n", "document 0: not a Kubernetes object; give apiVersion, kind and metadata"),
        ({"kind": "Pod", "metadata": {"name": "a"}}, "document 0: apiVersion: missing; set apiVersion"),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, "document 0: metadata.name: missing; set name"),
        (pod() | {"spec": {"containers": [3]}}, "Pod train: spec: malformed: "),
        (pod() | {"spec": 7}, "Pod train: spec: malformed: "),
        (
            pod(limits={"nvidia.com/gpu": -1}),
            "Pod train: container main: nvidia.com/gpu: -1 is negative; ask for 0 or more devices",
        ),
        (
            pod(limits={"nvidia.com/gpuu": 1}),
            "Pod train: container main: resources.limits: unknown resource nvidia.com/gpuu; ask for cpu, memory, "
            "ephemeral-storage, nvidia.com/gpu, nvidia.com/gpu.shared or nvidia.com/mig-<profile>",
        ),
        (
            pod(limits={"example.com/fpga": 1}),
            "Pod train: container main: resources.limits: unknown resource example",
        ),
    ],
)
def test_an_object_that_makes_no_sense_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    found = refused(write_example(tmp_path, objects={"pod.yaml": content}))
    assert found.startswith("objects/pod.yaml: ")
    assert said in found
    assert "; " in found, "the remedy"


def test_unknown_resources_are_found_in_requests_and_in_init_containers(tmp_path: Path) -> None:
    asking = pod()
    asking["spec"]["initContainers"] = [{"name": "first", "resources": {"requests": {"nvidia.com/gpuu": 1}}}]
    found = refused(write_example(tmp_path, objects={"pod.yaml": asking}))
    assert "Pod train: container first: resources.requests: unknown resource nvidia.com/gpuu; " in found


@pytest.mark.parametrize(
    "resource", ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb.me"]
)
def test_what_a_node_of_some_yard_can_offer_is_no_fault(tmp_path: Path, resource: str) -> None:
    assert load(write_example(tmp_path, objects={"pod.yaml": pod(limits={resource: 1})}))


def test_a_scenario_looks_where_its_objects_are(tmp_path: Path) -> None:
    said = refused(write_example(tmp_path, scenario=scenario(namespace="mine")))
    assert said == "scenario.yaml: namespace: no object is in 'mine'; name one of default"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"apply": ["absent.yaml"]}, "steps[0].apply: there is no objects/absent.yaml; name one of pod.yaml"),
        ({"delete": ["pods/train"]}, "steps[0].delete: unknown kind 'pods'; a step can delete pod, podgroup"),
        (
            {"fault": {"gpu": {"node": "node-9", "index": 0}}},
            "steps[0].fault: yard.yaml has no node 'node-9'; name one of node-1",
        ),
        (
            {"fault": {"gpu": {"node": "node-1", "index": 2}}},
            "steps[0].fault: node-1 has no GPU 2; name one of 0, 1",
        ),
        ({"join": ["node-9"]}, "steps[0].join: yard.yaml has no node 'node-9'; name one of node-1"),
        (
            {"expect": {"free": {"node-9": {}}}},
            "steps[0].expect.free: yard.yaml has no node 'node-9'; name one of node-1",
        ),
        (
            {"expect": {"pods": {"train": {"phase": "Running", "node": "node-9"}}}},
            "steps[0].expect.pods.train.node: yard.yaml has no node 'node-9'; name one of node-1",
        ),
        (
            {"expect": {"pods": {"train": {"phase": "Pending", "reasons": {"node-9": "NodeNotReady"}}}}},
            "steps[0].expect.pods.train.reasons: yard.yaml has no node 'node-9'; name one of node-1",
        ),
    ],
)
def test_a_step_names_only_files_and_nodes_that_are_there(tmp_path: Path, changed: Any, said: str) -> None:
    document = scenario(step(**changed))
    assert refused(write_example(tmp_path, yard=YARD, scenario=document)) == f"scenario.yaml: {said}"


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([node(gpus={"model": A100, "count": 3})], ""),
        ([node(plugin={"flags": {"migStrategy": "mixed"}})], ""),
        (
            [node(labels={"tier": "two"})],
            "scenario.yaml: steps[0].yard: next.yaml has other nodes than the yard",
        ),
        (
            [node(), node(name="node-2")],
            "scenario.yaml: steps[0].yard: next.yaml has other nodes than the yard",
        ),
        ([node(gpuz=1)], "next.yaml: nodes[0].gpuz: unknown key"),
    ],
)
def test_under_running_pods_only_gpus_and_plugins_change(tmp_path: Path, nodes: Any, said: str) -> None:
    folder = write_example(tmp_path, yard=YARD, scenario=scenario(step(yard="next.yaml")))
    with pytest.raises(InvalidInputError, match="next.yaml: No such file"):
        load(folder)
    (folder / "next.yaml").write_text(yaml.safe_dump({"nodes": nodes}))
    assert refused(folder).startswith(said) if said else load(folder)


def test_a_gpu_can_fail_that_has_been_plugged_in_before(tmp_path: Path) -> None:
    fails = {"gpu": {"node": "node-1", "index": 2, "xid": 79}}
    steps = [step(yard="next.yaml"), step(fault=fails)]
    folder = write_example(tmp_path, yard=YARD, scenario=scenario(*steps))
    (folder / "next.yaml").write_text(yaml.safe_dump({"nodes": [node(gpus={"model": A100, "count": 3})]}))
    assert load(folder).scenario.steps[1].fault is not None
    assert "node-1 has no GPU 2" in refused(write_example(tmp_path, scenario=scenario(*reversed(steps))))
