"""Room that is made for a pod is kept by an extender that has not been asked whom to remove."""

import copy
from dataclasses import replace

import pytest

from gpuyard.groups.plans import Planned
from gpuyard.writes import JSON
from gpuyard_extender.settings import NOMINATED_SECONDS, PUSH_SECONDS, TENTATIVE_SECONDS
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, metadata, pod_group, reservation
from tests.extender.deciding.test_preempt_verb import important, offered, running
from tests.extender.deciding.test_pushes import gone, member, newcomer, passes, pushed

NODE = gpu_node("n1", 2)


def interrupted(*, ended: bool) -> Stage:
    """One has been asked about a pod for two GPUs, of which one was free; its victim has `ended` or is about to."""
    stage = Stage(NODE)
    stage.create(running("a", "n1", 0))
    pushed(stage, important("urgent", gpus=2), "a")
    if ended:
        gone(stage, "a")
    return stage


def restarted(stage: Stage, *reservations: JSON) -> Stage:
    stage.restart([NODE], list(reservations))
    return stage


@pytest.mark.parametrize("ended", [False, True])
def test_room_is_kept_for_its_preemptor_by_the_extender_that_comes_next(ended: bool) -> None:
    stage = restarted(interrupted(ended=ended))
    others = [newcomer(stage), important("equal"), important("above", priority=1000)]
    stage.create(*others[1:])
    kept = [passes(stage, pod) for pod in others[:2]]
    assert kept == [[], []], "the GPU that was free is half of the room"
    assert not isinstance(stage.extender.plan(member(stage, priority=100)), Planned)
    if not ended:
        gone(stage, "a")
    assert passes(stage, others[2]) == ["n1"]
    stage.wait(PUSH_SECONDS + 1)
    assert passes(stage, others[0]) == []
    assert passes(stage, stage.server.pods["urgent"]) == ["n1"]
    assert stage.bound(stage.server.pods["urgent"], "n1") == ""


def test_it_is_kept_though_the_nomination_is_taken_back_after_the_restart() -> None:
    stage = restarted(interrupted(ended=False))
    assert passes(stage, stage.server.pods["urgent"]) == [], "kube-scheduler knew of the end first"
    stage.change("urgent", "status", nominatedNodeName="")
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == []
    assert passes(stage, stage.server.pods["urgent"]) == ["n1"]


def test_victims_that_are_told_to_go_only_after_the_restart_do_not_end_it() -> None:
    before = Stage(NODE)
    before.create(running("a", "n1", 0), important("urgent", gpus=2))
    before.change("urgent", "status", nominatedNodeName="n1")
    stage = restarted(before)
    stage.change("a", "metadata", deletionTimestamp="2026-01-01T00:00:00Z")
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == []


def test_what_never_comes_of_it_keeps_no_room_for_ever() -> None:
    stage = interrupted(ended=True)
    stage.create(running("b", "n2", 0))
    stage.restart([NODE, gpu_node("n2", 1)], [])
    other = newcomer(stage)
    stage.wait(NOMINATED_SECONDS - 1)
    assert passes(stage, other) == []
    stage.wait(1)
    assert passes(stage, other) == ["n1"]
    assert offered(stage, important("another"), "n2") == {"n2": ["uid-b"]}
    stage.wait(TENTATIVE_SECONDS)
    stage.change("urgent", "metadata", labels={"news": "of something else"})
    assert passes(stage, other) == ["n1"]


def test_victims_that_take_long_to_end_are_waited_for() -> None:
    before = Stage(NODE)
    slow = running("a", "n1", 0)
    slow["spec"]["terminationGracePeriodSeconds"] = 120
    before.create(slow)
    pushed(before, important("urgent", gpus=2), "a")
    stage = restarted(before)
    stage.wait(120)
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == []


def test_a_nomination_that_another_extender_told_of_moves_the_room() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0), running("b", "n2", 0), important("urgent"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-a"]}
    stage.change("urgent", "status", nominatedNodeName="n2")
    gone(stage, "a")
    gone(stage, "b")
    assert passes(stage, newcomer(stage)) == ["n1"]


def test_a_member_of_a_gang_has_its_seat_and_no_room_beside_it() -> None:
    before = Stage(NODE)
    member(before, priority=100)
    before.change("m0", "status", nominatedNodeName="n1")
    record = reservation("solo", {"m0": ("n1", [device("n1", 0)])}, expires=before.clock.now() + 10, needed=1)
    stage = restarted(before, record)
    other = newcomer(stage, gpus=2)
    assert passes(stage, other) == []
    stage.wait(10)
    assert passes(stage, other) == ["n1"], "with the seat it has lost all"


def test_a_member_of_a_gang_that_has_lost_its_seat_is_not_left_to_kube_scheduler() -> None:
    before = Stage(NODE)
    before.create(running("a", "n1", 0), running("b", "n1", 1))
    request = replace(member(before, priority=100), preempt=True)
    before.change("m0", "status", nominatedNodeName="n1")
    stage = restarted(before)
    stage.extender.observe("podgroups", "ADDED", pod_group("solo", 1))
    assert isinstance(stage.extender.plan(request), Planned)


def test_a_pod_that_is_nominated_because_it_is_about_to_be_bound_keeps_no_more_than_its_place() -> None:
    stage = Stage(NODE)
    soon = newcomer(stage, "soon", gpus=2)
    assert passes(stage, soon) == ["n1"]
    stage.change("soon", "status", nominatedNodeName="n1")
    stage.wait(TENTATIVE_SECONDS)
    assert passes(stage, newcomer(stage)) == ["n1"]


def test_room_is_looked_for_when_everything_is_known() -> None:
    before = Stage(NODE)
    member(before, priority=100)
    before.create(important("urgent"))
    before.change("urgent", "status", nominatedNodeName="n1")
    record = reservation("solo", {"m0": ("n1", [device("n1", 0)])}, expires=before.clock.now() + 10, needed=1)
    stage = restarted(before, record)
    node = stage.extender.ledger.node("n1", stage.clock.now())
    assert node is not None
    assert node.owners == {device("n1", 0): "uid-m0", device("n1", 1): "uid-urgent"}


def test_a_pod_without_gpus_is_kube_schedulers_own_affair() -> None:
    before = Stage(NODE)
    before.create(gpu_pod("plain", 0, cpu="64"))
    before.change("plain", "status", nominatedNodeName="n1")
    stage = restarted(before)
    assert passes(stage, newcomer(stage)) == ["n1"]


def moved(stage: Stage, *, asked_with_it: bool) -> None:
    """A pod that was to have room on n1, then on n2, as the answer was; its nomination for n1 is seen after that."""
    stage.create(running("a", "n1", 0), running("b", "n2", 0), important("urgent"))
    before = stage.server.pods["urgent"]
    assert offered(stage, before, "n1") == {"n1": ["uid-a"]}
    late = copy.deepcopy(before)
    late["status"]["nominatedNodeName"] = "n1"
    late["metadata"]["resourceVersion"] = metadata("next", None)["resourceVersion"]
    stage.extender.observe("nodes", "MODIFIED", gpu_node("n1", 1, sick=(0,)))
    assert offered(stage, late if asked_with_it else before, "n2") == {"n2": ["uid-b"]}
    stage.extender.observe("nodes", "MODIFIED", gpu_node("n1", 1))
    stage.extender.observe("pods", "MODIFIED", stage.server.add(late))


@pytest.mark.parametrize("asked_with_it", [True, False])
def test_a_nomination_that_is_seen_late_does_not_undo_a_newer_answer(asked_with_it: bool) -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    moved(stage, asked_with_it=asked_with_it)
    assert offered(stage, important("second"), "n2") == {}, "b goes for the first"
    gone(stage, "b")
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == ["n1"], "and has its place"


def test_a_nomination_that_came_before_this_extender_was_asked_is_as_late() -> None:
    before = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    before.create(running("a", "n1", 0), running("b", "n2", 0), important("urgent"))
    seen = before.server.pods["urgent"]
    before.change("urgent", "status", nominatedNodeName="n1")
    late = before.server.pods["urgent"]
    before.server.pods["urgent"] = seen
    before.restart([gpu_node("n1", 1), gpu_node("n2", 1)], [])
    assert offered(before, late, "n2") == {"n2": ["uid-b"]}
    before.extender.observe("pods", "MODIFIED", late)
    gone(before, "b")
    gone(before, "a")
    assert passes(before, newcomer(before)) == ["n1"]


def test_a_nomination_that_is_newer_than_the_answer_and_what_was_known_moves_the_room_back() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    moved(stage, asked_with_it=True)
    stage.change("urgent", "status", nominatedNodeName="n2")
    stage.change("urgent", "status", nominatedNodeName="n1")
    gone(stage, "b")
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == ["n2"], "another extender was asked, and n1 is named again"
