"""Each case of `reports` is held by a test that exists elsewhere, or by one of those below."""

import dataclasses
import re
from pathlib import Path

import pytest

from gpuyard import annotations, vocabulary
from gpuyard.hardware.gpus import GPU, Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from tests.extender.builders import Stage, device, gpu_node, gpu_pod
from tests.extender.reports import HELD

TESTS = Path(__file__).parents[1]


def test_every_case_is_held() -> None:
    assert list(HELD) == list(range(1, 52))


@pytest.mark.parametrize(("module", "test"), sorted({(module, test) for _, module, test in HELD.values()}))
def test_what_holds_a_case_exists(module: str, test: str) -> None:
    assert re.search(
        rf"^(?:(?:async )?def|class) {test}\b", (TESTS / f"{module}.py").read_text(), re.MULTILINE
    )


def planned(stage: Stage, name: str, resource: str = vocabulary.GPU) -> tuple[str, ...]:
    """The ids in the plan that the Binding brought."""
    text = stage.server.pods[name]["metadata"]["annotations"][vocabulary.ALLOCATION]
    plan = annotations.read_allocation(text)
    assert plan is not None
    return plan["train"][resource]


HALVES = {device("n1", index): index // 4 for index in range(8)}
"""The GPUs of `halved`, and the NUMA node of each."""


def halved() -> JSON:
    gpus = tuple(
        GPU(index, uuid, "NVIDIA-A100-SXM4-40GB", 40960, numa=half, switch=half)
        for index, (uuid, half) in enumerate(HALVES.items())
    )
    node = gpu_node("n1", 8)
    node["metadata"]["annotations"] = {vocabulary.INVENTORY: annotations.write_inventory(Inventory(gpus))}
    return node


def test_a_plan_that_a_pod_brings_itself_is_worth_nothing() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(gpu_pod("owner", node="n1", plan=[device("n1", 1)], phase="Running"))
    forged = gpu_pod("forged", plan=[device("n1", 1)])
    stage.create(forged)
    assert stage.filter(gpu_pod("other"))["NodeNames"] == ["n1"], "it claims nothing either"
    stage.wait(6)
    stage.filter(forged)
    assert stage.bound(forged, "n1") == ""
    assert planned(stage, "forged") == (device("n1", 0),)


def test_a_plan_has_just_as_many_ids_as_were_asked_for() -> None:
    stage = Stage(gpu_node("n1", 8))
    pod = gpu_pod("three", 3)
    stage.create(pod)
    stage.filter(pod)
    assert stage.bound(pod, "n1") == ""
    assert len(set(planned(stage, "three"))) == len(planned(stage, "three")) == 3


def test_bind_decides_anew_for_another_node_than_filter_had_in_mind() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1), gpu_node("full", 0))
    pod = gpu_pod("a")
    stage.create(pod)
    stage.filter(pod, "n1")
    assert stage.bound(pod, "full")
    assert stage.bound(pod, "n2") == ""
    assert planned(stage, "a") == (device("n2", 0),)


@pytest.mark.parametrize("told", ["event", "list"])
def test_what_is_deleted_is_free_whether_an_event_or_a_list_tells_it(told: str) -> None:
    stage = Stage(gpu_node("n1", 8))
    old = gpu_pod("old", 8, node="n1", plan=[device("n1", i) for i in range(8)], phase="Running")
    stage.create(old)
    assert stage.filter(gpu_pod("new", 8))["NodeNames"] == []
    if told == "event":
        stage.delete(old)
    else:
        stage.extender.replace("pods", [])
    assert stage.filter(gpu_pod("new", 8))["NodeNames"] == ["n1"]


def test_who_replaces_a_pod_gets_the_gpus_that_it_had() -> None:
    stage = Stage(gpu_node("n1", 8))
    pods = [
        gpu_pod(f"p{i}", 2, node="n1", plan=[device("n1", 2 * i), device("n1", 2 * i + 1)], phase="Running")
        for i in range(4)
    ]
    stage.create(*pods)
    stage.delete(pods[1])
    following = gpu_pod("following", 2)
    stage.create(following)
    stage.filter(following)
    assert stage.bound(following, "n1") == ""
    assert planned(stage, "following") == (device("n1", 2), device("n1", 3))


def test_an_init_container_without_gpus_changes_no_count() -> None:
    stage = Stage(gpu_node("n1", 2))
    pod = gpu_pod("a", 2)
    pod["spec"]["initContainers"] = [{"name": "fetch", "resources": {"limits": {"cpu": "1"}}}]
    stage.create(pod)
    stage.filter(pod)
    assert stage.bound(pod, "n1") == ""
    stage.extender.observe("pods", "MODIFIED", stage.server.pods["a"])
    assert stage.filter(gpu_pod("b", 1))["NodeNames"] == []


def test_an_over_committed_node_has_nothing_left() -> None:
    stage = Stage(gpu_node("n1", 1))
    for name in ("a", "b", "c"):
        stage.create(gpu_pod(name, node="n1", plan=[device("n1", 0)], phase="Running"))
    assert stage.filter(gpu_pod("d"))["NodeNames"] == []
    assert stage.filter(gpu_pod("e", 1000))["NodeNames"] == []


def test_forty_binds_to_one_node_do_not_wait_for_each_other() -> None:
    stage = Stage(gpu_node("n1", 40))
    stage.server.slow = 0.5
    pods = [gpu_pod(f"p{i}") for i in range(40)]
    stage.create(*pods)
    answers = []
    for pod in pods:
        stage.filter(pod)
        answers.append(stage.bind(pod, "n1"))
    stage.wait(0.5)
    assert answers == [[""]] * 40, "all after the half second that one write takes"
    assert {planned(stage, f"p{i}") for i in range(40)} == {(device("n1", i),) for i in range(40)}


def test_a_pod_that_asks_for_no_gpu_passes_and_is_bound_plainly() -> None:
    stage = Stage(gpu_node("n1", 0))
    pod = gpu_pod("none", 0)
    pod["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU] = "0"
    stage.create(pod)
    assert stage.filter(pod)["NodeNames"] == ["n1"]
    assert stage.bound(pod, "n1") == ""
    assert vocabulary.ALLOCATION not in stage.server.pods["none"]["metadata"].get("annotations", {})


def test_more_gpus_than_a_node_has_are_refused_with_both_numbers() -> None:
    stage = Stage(gpu_node("n1", 8))
    stage.create(gpu_pod("many", 16))
    found = stage.extender.explain("default", "many")
    assert found is not None
    assert found["code"] == Reason.INSUFFICIENT_GPUS
    assert [node["detail"] for node in found["nodes"]] == ["needs 16 GPUs, 8 free of 8"]


def test_memory_of_no_gpu_is_refused_by_its_annotation() -> None:
    stage = Stage(gpu_node("n1", 1, shares=10))
    pod = gpu_pod("none", 0)
    pod["metadata"]["annotations"] = {vocabulary.GPU_MEMORY: "100Mi"}
    pod["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU_SHARED] = "0"
    stage.create(pod)
    answer = stage.filter(pod)
    assert (answer["NodeNames"], list(answer["FailedAndUnresolvableNodes"])) == ([], ["n1"])
    found = stage.extender.explain("default", "none")
    assert found is not None
    assert (found["code"], found["detail"].partition(":")[0]) == ("InvalidRequest", vocabulary.GPU_MEMORY)


def unequal() -> JSON:
    """A node with a GPU of 10 GB and one of 20, each shared by four."""
    node = gpu_node("n1", 2, shares=4)
    gpus = tuple(
        GPU(index, device("n1", index), "NVIDIA-A100-SXM4-40GB", gigabytes * 1024)
        for index, gigabytes in enumerate((10, 20))
    )
    found = Inventory(gpus, Sharing(SharingMode.TIME_SLICING, 4, renamed=True))
    node["metadata"]["annotations"] = {vocabulary.INVENTORY: annotations.write_inventory(found)}
    return node


def test_shares_by_memory_are_of_a_gpu_that_has_as_much() -> None:
    """On neither GPU alone there are two times 12 of the 30 GB of the node."""
    stage = Stage(unequal())
    wishes = {"large": 12, "again": 12, "rest": 8, "small": 8, "more": 3}
    taken: dict[str, int | None] = {}
    for name, gigabytes in wishes.items():
        pod = gpu_pod(name, resource=vocabulary.GPU_SHARED)
        pod["metadata"]["annotations"] = {vocabulary.GPU_MEMORY: f"{gigabytes}Gi"}
        stage.create(pod)
        if not stage.filter(pod)["NodeNames"]:
            taken[name] = None
            continue
        assert stage.bound(pod, "n1") == ""
        stage.extender.observe("pods", "MODIFIED", stage.server.pods[name])
        [replica] = planned(stage, name, vocabulary.GPU_SHARED)
        taken[name] = [device("n1", 0), device("n1", 1)].index(replica.partition("::")[0])
    assert taken == {"large": 1, "again": None, "rest": 1, "small": 0, "more": None}
    found = stage.extender.explain("default", "again")
    assert found is not None
    assert found["code"] == Reason.SHARES_EXHAUSTED


def test_a_node_without_the_label_is_told_what_it_lacks() -> None:
    bare, labelled = gpu_node("bare", 0, inventory=False), gpu_node("labelled", 0, inventory=False)
    labelled["metadata"]["labels"] = {vocabulary.FAKE_GPUS: "true"}
    stage = Stage(bare, labelled)
    stage.create(gpu_pod("a"))
    found = stage.extender.explain("default", "a")
    assert found is not None
    assert {node["node"]: node["detail"] for node in found["nodes"]} == {
        "bare": "the node offers no nvidia.com/gpu; for fake GPUs it needs the label gpuyard.io/fake-gpus=true",
        "labelled": "the node offers no nvidia.com/gpu",
    }


@pytest.mark.parametrize(
    "identity",
    ["MIG-4d1a7b1c-0e7a-5c7e-9b1f-3d2f5f0c9a11", "MIG-GPU-b8ea3855-276c-c9cb-b366-c6fa655957c5/1/0"],
)
def test_mig_ids_of_either_form_are_planned_held_and_given_back(identity: str) -> None:
    cut = GPU(0, device("n1", 0), "NVIDIA-A100-SXM4-40GB", 40960, mig_enabled=True)
    cut = dataclasses.replace(cut, instances=(Instance("1g.5gb", 0, 1, identity),))
    node, resource = gpu_node("n1", 0), vocabulary.mig_resource("1g.5gb")
    inventory = annotations.write_inventory(Inventory((cut,), mig_strategy=MigStrategy.MIXED))
    node["metadata"]["annotations"] = {vocabulary.INVENTORY: inventory}
    node["status"]["allocatable"][resource] = "1"
    stage = Stage(node)
    pod = gpu_pod("a", resource=resource)
    stage.create(pod)
    stage.filter(pod)
    assert stage.bound(pod, "n1") == ""
    assert identity in stage.server.pods["a"]["metadata"]["annotations"][vocabulary.ALLOCATION]
    told = gpu_pod("a", resource=resource, node="n1", plan=[identity], truth=[identity], phase="Running")
    stage.extender.observe("pods", "MODIFIED", told)
    assert stage.filter(gpu_pod("b", resource=resource))["NodeNames"] == []
    stage.delete(told)
    assert stage.filter(gpu_pod("b", resource=resource))["NodeNames"] == ["n1"]


def test_what_is_free_does_not_wait_for_a_new_inventory() -> None:
    """The inventory says what there is, the pods who has it: nothing of it grows old when pods come and go."""
    stage = Stage(halved())
    pods = [gpu_pod("a", 3), gpu_pod("b", 3), gpu_pod("c", 2)]
    for pod in pods:
        pod["metadata"]["annotations"] = {vocabulary.TOPOLOGY: "same-numa"}
        stage.create(pod)
        stage.filter(pod)
    assert [stage.bound(pod, "n1") for pod in pods] == ["", "", Reason.TOPOLOGY_UNSATISFIED.text]
    assert [{HALVES[gpu] for gpu in planned(stage, name)} for name in "ab"] == [{0}, {1}]


def test_no_busy_gpu_is_taken_for_the_sake_of_numa() -> None:
    stage = Stage(halved())
    busy = [device("n1", i) for i in range(3)]
    stage.create(gpu_pod("first", 3, node="n1", plan=busy, truth=busy, phase="Running"))
    for name, count, numa in (("pair", 2, {1}), ("rest", 3, {0, 1})):
        pod = gpu_pod(name, count)
        stage.create(pod)
        stage.filter(pod)
        assert stage.bound(pod, "n1") == ""
        stage.extender.observe("pods", "MODIFIED", stage.server.pods[name])
        assert {HALVES[gpu] for gpu in planned(stage, name)} == numa
    assert sorted({*busy, *planned(stage, "pair"), *planned(stage, "rest")}) == sorted(HALVES)
