"""What the page is told of nodes and pods."""

import json
from typing import Any

import pytest

from gpuyard import annotations, vocabulary, yard
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard_extender.web.ui import boards, waiting
from gpuyard_extender.web.ui.painting import ATTEMPTS, Painter
from gpuyard_extender.web.ui.pieces import NOTHING
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group


def painted(painter: Painter, stage: Stage, since: int = NOTHING) -> Any:
    for _ in painter.paint(stage.clock.now()):
        pass
    return json.loads(painter.pieces.since(since) or b"null")


def look(stage: Stage) -> Any:
    return painted(Painter(stage.extender), stage)


def with_preset(name: str, preset: str, strategy: MigStrategy) -> Any:
    [node] = yard.parse({"nodes": [{"name": name, "preset": preset}]})
    found = gpu_node(name)
    text = annotations.write_inventory(Inventory(node.gpus, mig_strategy=strategy))
    found["metadata"]["annotations"][vocabulary.INVENTORY] = text
    return found


def test_a_gpu_shows_its_owner_its_health_and_where_it_hangs() -> None:
    stage = Stage(gpu_node("node-1", 3, sick=(2,)))
    stage.create(gpu_pod("a", node="node-1", plan=[device("node-1", 1)]))
    free, taken, sick = look(stage)["nodes"]["node-1"]["gpus"]
    usual = {"model": "NVIDIA-A100-SXM4-40GB", "memory": 40960, "cells": 1, "numa": 0, "switch": 0}
    assert free == {"index": 0, **usual}
    assert taken == {"index": 1, **usual, "parts": [[0, 1, "", "uid-a"]]}
    assert sick == {"index": 2, **usual, "sick": True}


def test_shares_of_a_gpu_are_cells_of_one_size() -> None:
    stage = Stage(gpu_node("node-1", 1, shares=4))
    pod = gpu_pod("a", resource=vocabulary.GPU_SHARED, node="node-1", plan=[f"{device('node-1', 0)}::2"])
    stage.create(pod)
    [gpu] = look(stage)["nodes"]["node-1"]["gpus"]
    assert gpu["cells"] == 4
    assert gpu["parts"] == [[0, 1, "", ""], [1, 1, "", ""], [2, 1, "", "uid-a"], [3, 1, "", ""]]


def test_shares_that_say_how_much_they_use_are_drawn_as_large() -> None:
    stage = Stage(gpu_node("node-1", 1, shares=10))
    for number, milli in enumerate(("700", None, "50")):
        plan = [f"{device('node-1', 0)}::{number}"]
        pod = gpu_pod(f"p{number}", resource=vocabulary.GPU_SHARED, node="node-1", plan=plan)
        pod["metadata"]["annotations"] |= {vocabulary.GPU_MILLI: milli} if milli else {}
        stage.create(pod)
    [gpu] = look(stage)["nodes"]["node-1"]["gpus"]
    assert gpu["cells"] == 1000
    assert gpu["parts"] == [
        [0, 700, "700‰", "uid-p0"],
        [700, 100, "100‰", "uid-p1"],
        [800, 50, "50‰", "uid-p2"],
    ]


def test_of_thousands_of_shares_only_those_with_owners_are_drawn() -> None:
    stage = Stage(gpu_node("node-1", 1, shares=20_000))
    plan = [f"{device('node-1', 0)}::7"]
    stage.create(gpu_pod("a", resource=vocabulary.GPU_SHARED, node="node-1", plan=plan))
    [gpu] = look(stage)["nodes"]["node-1"]["gpus"]
    assert (gpu["cells"], gpu["parts"]) == (20_000, [[7, 1, "", "uid-a"]])


def test_a_name_that_no_utf_8_can_say_is_shown_all_the_same() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.create(gpu_pod("a\ud800"))
    assert look(stage)["pods"]["uid-a\ud800"]["name"] == "a\ud800"


@pytest.mark.parametrize(("strategy", "free"), [(MigStrategy.MIXED, 3), (MigStrategy.DYNAMIC, 0)])
def test_instances_lie_where_they_are_and_those_that_do_not_exist_yet_are_not_drawn(
    strategy: MigStrategy, free: int
) -> None:
    node = with_preset("node-1", "a100-mig", strategy)
    stage = Stage(node)
    inventory = annotations.read_inventory(node["metadata"]["annotations"][vocabulary.INVENTORY])
    assert inventory is not None
    found = next(d for d in inventory.devices() if d.gpu == 0 and d.profile == "3g.40gb" and d.start == 4)
    stage.create(gpu_pod("a", resource=found.resource, node="node-1", plan=[found.id]))
    gpu = look(stage)["nodes"]["node-1"]["gpus"][0]
    assert gpu["cells"] == 8
    assert [4, 4, "3g.40gb", "uid-a"] in gpu["parts"]
    assert sum(not part[3] for part in gpu["parts"]) == free
    assert boards.place(found) == "0:4"


def test_a_node_without_inventory_shows_counts_and_every_node_says_what_is_wrong_with_it() -> None:
    counted, cordoned = gpu_node("node-1", 4, inventory=False), gpu_node("node-2", 1)
    cordoned["spec"]["unschedulable"] = True
    cordoned["status"]["conditions"][0]["status"] = "False"
    cordoned["metadata"]["labels"] = {vocabulary.RACK: "r7", vocabulary.BLOCK: "b1"}
    stage = Stage(counted, cordoned)
    stage.create(gpu_pod("a", 3, node="node-1"))
    nodes = look(stage)["nodes"]
    assert nodes["node-1"] == {"marks": [], "counts": {"nvidia.com/gpu": [3, 4]}}
    assert (nodes["node-2"]["marks"], nodes["node-2"]["rack"]) == (["not ready", "cordoned"], "r7")


def test_a_waiting_pod_shows_why_and_a_gang_how_many_of_it_are_there() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 1))
    stage.extender.observe("podgroups", "ADDED", pod_group("gang", 3))
    stage.create(
        gpu_pod("big", 8), gpu_pod("small", 1), gpu_pod("member", 1, group="gang"), gpu_pod("plain", 0)
    )
    found = look(stage)
    pods = {pod["name"]: pod for pod in found["pods"].values()}
    assert pods["big"]["code"] == "InsufficientGPUs"
    assert pods["big"]["detail"] == "not enough free GPUs: 0 of 2 nodes would take it"
    assert ("code" in pods["small"], pods["small"]["detail"]) == (False, "2 of 2 nodes would take it")
    assert (pods["member"]["code"], pods["member"]["detail"]) == ("GangWaiting", "1 of 3 members are there")
    assert "plain" not in pods
    assert found["groups"] == {"default/gang": {"members": 1, "needed": 3}}


def test_looking_decides_nothing() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.create(gpu_pod("a"), gpu_pod("b"))
    look(stage)
    extender = stage.extender
    assert (list(extender.ledger.assumptions.all()), extender.reports.history.noted, stage.told) == (
        [],
        0,
        [],
    )


def test_a_thousand_pods_that_wait_for_the_same_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, why = list[str](), waiting._why
    monkeypatch.setattr(waiting, "_why", lambda pod, *more: asked.append(pod.name) or why(pod, *more))
    stage = Stage(gpu_node("node-1", 1))
    stage.create(*(gpu_pod(f"job-{n}", 2) for n in range(1000)))
    painter = Painter(stage.extender)
    found = painted(painter, stage)
    assert (len(asked), {pod["code"] for pod in found["pods"].values()}) == (1, {"InsufficientGPUs"})
    painted(painter, stage)
    assert len(asked) == 1


def test_of_many_kinds_of_waiting_pods_each_look_asks_about_a_few_until_all_are_known() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.create(*(gpu_pod(f"p-{n}", n) for n in range(2, 2 + 3 * waiting.AT_ONCE)))
    painter = Painter(stage.extender)
    known = [sum("code" in pod for pod in painted(painter, stage)["pods"].values()) for _ in range(3)]
    assert known == [waiting.AT_ONCE, 2 * waiting.AT_ONCE, 3 * waiting.AT_ONCE]


def test_what_has_not_changed_is_not_told_again_and_what_is_gone_is() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 2))
    painter = Painter(stage.extender)
    painted(painter, stage)
    version, pod = painter.pieces.version, gpu_pod("a", node="node-1", plan=[device("node-1", 0)])
    stage.create(pod)
    news = painted(painter, stage, version)
    assert (list(news["nodes"]), list(news["pods"])) == (["node-1"], ["uid-a"])
    version = painter.pieces.version
    stage.delete(pod)
    stage.extender.replace("nodes", [])
    news = painted(painter, stage, version)
    assert (news["nodes"], news["pods"]) == ({"node-1": None, "node-2": None}, {"uid-a": None})


def test_the_last_decisions_are_shown_and_no_more_of_them() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod = gpu_pod("a")
    stage.create(pod)
    painter = Painter(stage.extender)
    for _ in range(3):
        for _ in range(ATTEMPTS // 2):
            stage.filter(pod)
        shown = painted(painter, stage)["attempts"]
    assert (len(shown), max(map(int, shown))) == (ATTEMPTS, 3 * ATTEMPTS // 2)
    assert shown[str(ATTEMPTS)]["verb"] == "filter"


def test_before_the_cluster_was_seen_nothing_is_shown() -> None:
    stage = Stage()
    stage.extender._unlisted.add("pods")
    assert painted(Painter(stage.extender), stage)["nodes"] == {}
