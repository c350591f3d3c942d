"""One event on a pod for each change of its reason code, by the extender that answers, at no verb's cost."""

from gpuyard.writes import JSON
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from tests.extender.builders import Stage, device, gpu_node, gpu_pod


def thief(stage: Stage, node: str, index: int) -> JSON:
    """A pod that holds this GPU."""
    pod = gpu_pod(f"thief-{index}", node=node, truth=[device(node, index)], phase="Running")
    stage.create(pod)
    return pod


def reject(stage: Stage, pod: JSON) -> None:
    assert stage.filter(pod)["NodeNames"] == []
    stage.wait(0.2)


def told(stage: Stage) -> list[str]:
    return [event["reason"] for event in stage.server.events]


def test_a_code_is_told_once_however_often_the_pod_is_rejected_for_it() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("cpu", 0))
    late = gpu_pod("late", 2)
    stage.create(late)
    first = thief(stage, "node-1", 0)
    reject(stage, late)
    [event] = stage.server.events
    assert (event["reason"], event["type"]) == ("InsufficientGPUs", "Warning")
    assert event["involvedObject"]["uid"] == "uid-late"
    assert event["message"].startswith(
        "no node that was asked about takes the pod: 1 × InsufficientGPUs, 1 × NoSuchResource; GPUs have to"
    )
    before = dict(event)
    stage.delete(first)
    thief(stage, "node-1", 1)
    stage.wait(60)
    for _ in range(3):
        reject(stage, late)
    assert stage.server.events == [before]


def test_another_code_is_told_and_one_that_comes_back_is_the_last_word_again() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("cpu", 0))
    late = gpu_pod("late")
    stage.create(late)
    holder = thief(stage, "node-1", 0)
    reject(stage, late)
    stage.nodes = ["cpu"]
    reject(stage, late)
    assert told(stage) == ["InsufficientGPUs", "NoSuchResource"]
    stage.nodes = ["node-1"]
    stage.wait(60)
    reject(stage, late)
    first, second = stage.server.events
    assert first["lastTimestamp"] > second["lastTimestamp"]
    assert "1 × InsufficientGPUs;" in first["message"]
    stage.delete(holder)


def test_an_extender_that_has_just_started_tells_nothing_anew() -> None:
    stage = Stage(gpu_node("node-1", 1))
    late = gpu_pod("late", 2)
    stage.create(late)
    reject(stage, late)
    before = dict(stage.server.events[0])
    stage.extender = Extender(stage.server, stage.clock, Settings())
    for resource in ("pods", "nodes", "reservations", "podgroups", "poddisruptionbudgets"):
        stage.extender.replace(resource, [gpu_node("node-1", 1)] if resource == "nodes" else [])
    stage.wait(60)
    reject(stage, late)
    assert stage.server.events == [before]


def test_a_crowd_is_told_of_at_a_measured_pace_and_no_verb_waits() -> None:
    stage = Stage(gpu_node("node-1", 1))
    crowd = [gpu_pod(f"p{i}", 2) for i in range(50)]
    for pod in crowd:
        stage.filter(pod)
    assert len(stage.server.events) < 5
    stage.wait(1.0)
    assert 15 <= len(stage.server.events) <= 21
    stage.wait(5.0)
    assert len(stage.server.events) == 50


def test_what_the_api_server_would_not_take_is_tried_again_with_the_next_rejection() -> None:
    stage = Stage(gpu_node("node-1", 1))
    late = gpu_pod("late", 2)
    stage.server.tells = False
    reject(stage, late)
    assert told(stage) == []
    stage.server.tells = True
    reject(stage, late)
    assert told(stage) == ["InsufficientGPUs"]
