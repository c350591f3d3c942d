"""An extender that becomes the active one knows what the one before has written, though its watch is behind."""

import copy

from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.succession import LAG_SECONDS
from gpuyard_kube.api import Api
from tests.extender.builders import Stage, gpu_node, gpu_pod


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
    follower.succeed()
    assert stage.bound(second, "node-1") != ""
    assert stage.server.bindings == ["first"]


def test_who_leads_for_a_while_knows_by_its_watch_and_asks_no_more() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.extender.succeed()
    pods = [gpu_pod("early"), gpu_pod("late")]
    stage.create(*pods)
    stage.bound(pods[0], "node-1")
    asked = len(stage.server.asked)
    assert asked == 1
    stage.wait(LAG_SECONDS)
    stage.bound(pods[1], "node-1")
    assert len(stage.server.asked) == asked


def test_a_server_that_does_not_say_who_is_there_stops_nobody() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.extender.succeed()
    pod = gpu_pod("one")
    stage.create(pod)
    stage.server.silent = True
    assert stage.bound(pod, "node-1") == ""
