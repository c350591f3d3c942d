"""An extender that becomes the active one knows what the one before has written, though its watch is behind."""

import copy

import pytest

from gpuyard_extender.leadership.succession import LAG_SECONDS, LOOK_SECONDS
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_kube.api import Api
from tests.extender.binding.test_binder import gang
from tests.extender.builders import Stage, device, gpu_node, gpu_pod


def behind(stage: Stage, *pods: dict) -> Extender:  # type: ignore[type-arg]
    """An extender that has seen the pods as they are now, and nothing since."""
    api: Api = stage.server
    found = Extender(api, stage.clock, Settings("pack"))
    for resource in ("pods", "reservations", "podgroups", "poddisruptionbudgets"):
        found.replace(resource, [])
    found.replace("nodes", [gpu_node("node-1", 1)])
    found.replace("pods", copy.deepcopy(pods))
    return found


def test_devices_that_the_one_before_gave_away_last_are_not_given_away_again() -> None:
    stage = Stage(gpu_node("node-1", 1))
    first, second = gpu_pod("first"), gpu_pod("second")
    stage.create(first, second)
    follower = behind(stage, first, second)
    assert stage.bound(first, "node-1") == ""
    stage.extender = follower
    follower.succession.begin()
    assert stage.bound(second, "node-1") != ""
    assert stage.server.bindings == ["first"]


def test_who_leads_for_a_while_knows_by_its_watch_and_asks_no_more() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.extender.succession.begin()
    pods = [gpu_pod("early"), gpu_pod("late")]
    stage.create(*pods)
    stage.bound(pods[0], "node-1")
    asked = len(stage.server.asked)
    assert asked == 1
    stage.wait(LAG_SECONDS)
    stage.bound(pods[1], "node-1")
    assert len(stage.server.asked) == asked


def test_nothing_is_given_away_while_nobody_says_who_is_there_and_nobody_waits_long_for_that() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.extender.succession.begin()
    pod = gpu_pod("one")
    stage.create(pod)
    stage.server.silent = True
    assert "does not know yet who is on the node" in stage.bound(pod, "node-1")
    stage.server.silent, stage.server.late = False, 29.0
    answers = stage.bind(pod, "node-1")
    stage.wait(LOOK_SECONDS)
    assert "does not know yet" in answers[0]
    stage.wait(30)
    assert stage.server.bindings == []
    assert stage.bound(pod, "node-1") == ""


def test_many_binds_ask_once_for_each_node() -> None:
    stage = Stage(gpu_node("node-1", 8), gpu_node("node-2", 8))
    stage.extender.succession.begin()
    pods = [gpu_pod(f"p{number}") for number in range(8)]
    stage.create(*pods)
    stage.server.late = 0.1
    answers = [stage.bind(pod, f"node-{1 + number % 2}") for number, pod in enumerate(pods)]
    stage.wait(1)
    assert answers == [[""]] * 8
    assert sorted(stage.server.asked) == ["spec.nodeName=node-1", "spec.nodeName=node-2"]
    stage.extender.succession.begin()
    more = gpu_pod("more")
    stage.create(more)
    assert stage.bind(more, "node-1") == []
    stage.wait(1)
    assert len(stage.server.asked) == 3, "whoever led in between may have bound there"


@pytest.mark.parametrize("late", [0.0, 0.1])
def test_a_gang_is_bound_when_its_last_member_has_arrived_and_looked(late: float) -> None:
    stage, pods = gang(3, 3)
    stage.extender.succession.begin()
    stage.server.late = late
    answers = [stage.bind(pod, f"node-{number}") for number, pod in enumerate(pods)]
    stage.wait(2 * late)
    assert answers == [[""]] * 3


def test_an_answer_that_is_older_than_a_list_of_all_pods_brings_none_of_them_back() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.extender.succession.begin()
    gone, pod = gpu_pod("gone", node="node-1", plan=[device("node-1", 0)]), gpu_pod("p")
    stage.create(gone, pod)
    stage.server.late = 1.0
    stage.bind(pod, "node-1")
    stage.wait(0.1)
    del stage.server.pods["gone"]
    stage.extender.replace("pods", list(stage.server.pods.values()))
    stage.wait(3)
    again = stage.bind(pod, "node-1")
    stage.wait(3)
    assert again == [""]


def test_a_newer_bind_replaces_one_that_waits_to_know_who_is_there() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    stage.extender.succession.begin()
    pod = gpu_pod("p")
    stage.create(pod)
    stage.server.late = 0.5
    first = stage.bind(pod, "node-1")
    stage.server.late = 0.0
    second = stage.bind(pod, "node-2")
    stage.wait(1)
    assert (first != [""], second) == (True, [""])
