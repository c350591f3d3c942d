"""When a worker plays a node of the yard, and how it is made as it was."""

import dataclasses
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gpuyard import annotations, vocabulary, yard
from gpuyard_cli.backends.kind_roles import OF_A_SCENARIO, ends, marked, offers, role, told, values
from gpuyard_cli.scenarios.observation import offered
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory

[PART, LATER] = yard.parse(
    {
        "nodes": [
            {"name": "a", "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}, "labels": {"tier": "one"}},
            {"name": "b", "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}, "joins": "later"},
        ]
    }
)


def node(told: str = "", **counts: str) -> Any:
    allocatable = {"cpu": "2", **{f"nvidia.com/{name}": count for name, count in counts.items()}}
    return {"metadata": {"annotations": {vocabulary.INVENTORY: told}}, "status": {"allocatable": allocatable}}


TOLD = annotations.write_inventory(node_inventory.build(PART.gpus, config.parse(None)))


def test_a_worker_plays_its_part_when_plugin_and_kubelet_have_said_so() -> None:
    assert offers(node(TOLD, gpu="2"), PART)
    assert not offers(node(TOLD, gpu="0"), PART), "the kubelet tells it only every 10 s"
    assert not offers(node(gpu="2"), PART), "the plugin of the run before is still there"
    assert not offers(node(TOLD, gpu="2"), LATER), "the GPUs of another node have other ids"


def test_a_plugin_has_told_of_its_devices_whatever_their_health() -> None:
    sick = tuple(dataclasses.replace(gpu, healthy=False) for gpu in PART.gpus)
    assert told(node(TOLD), PART)
    assert told(node(annotations.write_inventory(node_inventory.build(sick, config.parse(None)))), PART)
    assert not told(node(), PART)
    assert not told(node(TOLD), dataclasses.replace(PART, gpus=PART.gpus[:1]))
    replicas = {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}}
    assert not told(node(TOLD), dataclasses.replace(PART, plugin_config={"sharing": replicas}))


def test_a_resource_whose_plugin_has_gone_is_not_offered() -> None:
    seen = node(TOLD, **{"gpu": "2", "gpu.shared": "0"})
    assert offered(seen) == {vocabulary.GPU: 2}
    assert offers(seen, PART)


def test_a_part_has_the_labels_of_its_yard_node_and_a_node_without_one_gets_no_gpus() -> None:
    played = role(PART, cordoned=False)
    assert played["metadata"]["labels"] == {
        "tier": "one",
        vocabulary.FAKE_GPUS: "true",
        vocabulary.YARD_NODE: "a",
    }
    assert played["spec"] == {"unschedulable": None}
    idle = role(None, cordoned=True)
    assert idle["metadata"]["labels"] == {vocabulary.FAKE_GPUS: "false", vocabulary.YARD_NODE: None}
    assert idle["spec"] == {"unschedulable": True}


def merge(obj: Any, patch: Any) -> Any:
    """RFC 7386, as an API server does it."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(obj) if isinstance(obj, dict) else {}
    for key, part in patch.items():
        merged[key] = merge(merged.get(key), part)
        if merged[key] is None:
            del merged[key]
    return merged


@given(labels=st.dictionaries(st.sampled_from("abc"), st.text(max_size=3)), data=st.data())
def test_what_a_patch_changed_becomes_as_it_was(labels: dict[str, str], data: st.DataObject) -> None:
    names = st.sampled_from([*labels, "d"])
    changed = data.draw(st.dictionaries(names, st.one_of(st.none(), st.text(max_size=3))))
    before = {"metadata": {"labels": labels}, "spec": {"podCIDR": "x"}}
    patch = {"metadata": {"labels": changed}, "spec": {"unschedulable": True}}
    assert merge(merge(before, patch), values(before, patch)) == before


def test_a_pod_that_ends_has_devices_to_give_back_when_it_was_planned() -> None:
    planned = {"annotations": {vocabulary.ALLOCATION: "{}"}}
    assert ends({"metadata": {**planned, "deletionTimestamp": "now"}})
    assert not ends({"metadata": planned})
    assert not ends({"metadata": {"deletionTimestamp": "now"}})


def test_only_a_namespace_says_that_a_scenario_made_it() -> None:
    found = marked({"kind": "Namespace", "metadata": {"name": "a", "annotations": {"k": "v"}}})
    assert found["metadata"]["annotations"] == {"k": "v", OF_A_SCENARIO: "true"}
    pod = {"kind": "Pod", "metadata": {"name": "a"}}
    assert marked(pod) is pod
