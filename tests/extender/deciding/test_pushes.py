"""Room that kube-scheduler makes by the verb Preempt stays its preemptor's."""

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest

from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.writes import JSON
from gpuyard_extender.deciding.searching import Found
from gpuyard_extender.settings import NOMINATED_SECONDS, PUSH_SECONDS
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group, reservation
from tests.extender.deciding.test_preempt_verb import important, offered, running


def passes(stage: Stage, pod: JSON, *nodes: str) -> list[str]:
    return stage.filter(pod, *nodes)["NodeNames"]


def pushed(stage: Stage, pod: JSON, *victims: str, node: str = "n1") -> JSON:
    """kube-scheduler has asked, nominated the pod and begun to remove the victims; the pod as it is then."""
    stage.create(pod)
    assert offered(stage, pod)[node] == [f"uid-{name}" for name in victims]
    stage.change(pod["metadata"]["name"], "status", nominatedNodeName=node)
    for name in victims:
        stage.change(name, "metadata", deletionTimestamp="2026-01-01T00:00:00Z")
    return stage.server.pods[pod["metadata"]["name"]]


def test_a_preemptor_that_is_tried_before_its_victims_are_seen_to_end_loses_nothing() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("a", "n1", 0))
    urgent = pushed(stage, important("urgent", gpus=2), "a")
    assert passes(stage, urgent) == [], "kube-scheduler knew of the end first"
    assert offered(stage, urgent) == {}
    stage.change("urgent", "status", nominatedNodeName="")
    stage.delete(stage.server.pods["a"])
    patient = gpu_pod("patient", 2)
    stage.create(patient)
    assert passes(stage, patient) == []
    stage.wait(1)
    assert stage.server.woken == ["urgent"]
    assert passes(stage, stage.server.pods["urgent"]) == ["n1"]
    assert stage.bound(stage.server.pods["urgent"], "n1") == ""


def test_the_room_is_kept_for_its_devices_not_only_for_their_number() -> None:
    stage = Stage(gpu_node("n1", 3))
    stage.create(running("a", "n1", 0), running("b", "n1", 1))
    pushed(stage, important("urgent", gpus=2), "a")
    stage.delete(stage.server.pods["a"])
    small = gpu_pod("small", 1)
    stage.create(small)
    assert passes(stage, small) == []


def test_the_room_is_kept_from_the_answer_on_against_gangs_too() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.extender.observe("podgroups", "ADDED", pod_group("pair", 1))
    member, urgent = gpu_pod("m0", group="pair"), important("urgent", gpus=2)
    stage.create(running("a", "n1", 0), member, urgent)
    request = PlanRequest("default", "pair", 1, ("uid-m0",))
    assert offered(stage, urgent) == {"n1": ["uid-a"]}
    assert not isinstance(stage.extender.plan(request), Planned)
    stage.wait(PUSH_SECONDS)
    assert isinstance(stage.extender.plan(request), Planned), "kube-scheduler did not do as it was told"


def test_of_several_nodes_the_one_that_is_named_is_kept_from_the_answer_on() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0), running("b", "n2", 0), important("urgent"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-a"]}
    gone(stage, "a")
    gone(stage, "b")
    assert passes(stage, newcomer(stage)) == ["n2"]


def test_two_that_are_asked_about_at_once_get_victims_and_devices_of_their_own() -> None:
    stage = Stage(gpu_node("n1", 2), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0), running("b", "n1", 1), running("c", "n2", 0, priority=5))
    urgent = [important(f"urgent-{n}") for n in range(4)]
    stage.create(*urgent)
    answers = [offered(stage, pod) for pod in urgent]
    assert answers == [{"n1": ["uid-a"]}, {"n1": ["uid-b"]}, {"n2": ["uid-c"]}, {}], "nobody goes for two"
    for name in ("a", "b", "c"):
        gone(stage, name)
    for pod, [node] in zip(urgent, answers[:3], strict=False):
        assert stage.bound(pod, node) == "", pod


def test_the_second_of_two_gets_its_room_whatever_becomes_of_the_first() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("a", "n1", 0), running("b", "n1", 1), important("first"), important("second"))
    assert offered(stage, stage.server.pods["first"]) == {"n1": ["uid-a"]}
    assert offered(stage, stage.server.pods["second"]) == {"n1": ["uid-b"]}
    gone(stage, "first")
    gone(stage, "b")
    assert stage.bound(stage.server.pods["second"], "n1") == "", "and the victim of the first has stayed"


def test_who_goes_for_one_counts_among_nobodys_losses() -> None:
    stage = Stage(gpu_node("n1", 2), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0), running("b", "n1", 1, priority=1), running("c", "n2", 0, priority=2))
    stage.create(important("first"), important("second"))
    assert offered(stage, stage.server.pods["first"]) == {"n1": ["uid-a"]}
    assert offered(stage, stage.server.pods["second"]) == {"n1": ["uid-b"]}, (
        "one pod, of less importance than c"
    )


def test_victims_are_anybodys_again_when_kube_scheduler_does_nothing() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0), important("first"), important("second"))
    assert offered(stage, stage.server.pods["first"]) == {"n1": ["uid-a"]}
    assert offered(stage, stage.server.pods["second"]) == {}
    stage.wait(PUSH_SECONDS)
    assert offered(stage, stage.server.pods["second"]) == {"n1": ["uid-a"]}


def test_who_is_more_important_may_have_the_same_victims() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0), important("first"), important("vip", priority=1000))
    assert offered(stage, stage.server.pods["first"]) == {"n1": ["uid-a"]}
    assert offered(stage, stage.server.pods["vip"]) == {"n1": ["uid-a"]}
    assert offered(stage, stage.server.pods["first"]) == {}


def test_no_gang_has_those_evicted_who_go_for_another_pod() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("a", "n1", 0), running("b", "n1", 1), important("urgent"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-a"]}
    request = replace(member(stage, priority=100), preempt=True)
    answer = stage.extender.plan(request)
    assert isinstance(answer, Planned)
    assert [victim.name for victim in answer.reservation.victims] == ["b"]
    [seat] = answer.reservation.seats
    assert seat.allocation == {"train": {"nvidia.com/gpu": (device("n1", 1),)}}
    gone(stage, "b")
    gone(stage, "a")
    assert stage.bound(stage.server.pods["urgent"], "n1") == ""


def test_who_is_more_important_passes_over_it_and_who_is_not_does_not() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    pushed(stage, important("urgent"), "a")
    stage.delete(stage.server.pods["a"])
    equal, above = important("equal"), important("above", priority=1000)
    stage.create(equal, above)
    assert passes(stage, equal) == []
    assert passes(stage, above) == ["n1"]
    assert stage.prioritize(above) == ["n1"]
    assert stage.bound(above, "n1") == ""
    assert passes(stage, stage.server.pods["urgent"]) == []


def test_nothing_is_kept_where_the_pod_could_not_go_even_without_the_victims() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("a", "n1", 0))
    urgent = pushed(stage, important("urgent", gpus=2), "a")
    stage.delete(stage.server.pods["a"])
    stage.extender.observe("nodes", "MODIFIED", gpu_node("n1", 2, sick=(1,)))
    assert passes(stage, urgent) == []
    small = gpu_pod("small")
    stage.create(small)
    assert passes(stage, small) == ["n1"]


def test_the_room_is_not_kept_for_ever() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    pushed(stage, important("urgent"), "a")
    stage.delete(stage.server.pods["a"])
    other = gpu_pod("other")
    stage.create(other)
    stage.wait(NOMINATED_SECONDS - 1)
    assert passes(stage, other) == []
    stage.wait(1)
    assert passes(stage, other) == ["n1"]


def test_a_preemptor_that_is_gone_keeps_nothing() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    urgent = pushed(stage, important("urgent"), "a")
    stage.delete(stage.server.pods["a"])
    stage.delete(urgent)
    other = gpu_pod("other")
    stage.create(other)
    assert passes(stage, other) == ["n1"]


def gone(stage: Stage, name: str) -> None:
    stage.delete(stage.server.pods[name])


def newcomer(stage: Stage, name: str = "other", gpus: int = 1) -> JSON:
    pod = gpu_pod(name, gpus)
    stage.create(pod)
    return pod


def member(stage: Stage, priority: int) -> PlanRequest:
    """The question about a gang of one."""
    stage.extender.observe("podgroups", "ADDED", pod_group("solo", 1))
    pod = gpu_pod("m0", group="solo")
    pod["spec"]["priority"] = priority
    stage.create(pod)
    return PlanRequest("default", "solo", 1, ("uid-m0",))


def test_victims_that_take_long_to_end_do_not_end_it() -> None:
    stage = Stage(gpu_node("n1", 1))
    slow = running("slow", "n1", 0)
    slow["spec"]["terminationGracePeriodSeconds"] = 120
    stage.create(slow)
    pushed(stage, important("urgent"), "slow")
    stage.wait(120)
    gone(stage, "slow")
    assert passes(stage, newcomer(stage)) == []


@pytest.mark.parametrize("unbound", ["refused", "never tried"])
def test_a_place_that_came_to_nothing_does_not_end_it(unbound: str) -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    urgent = pushed(stage, important("urgent"), "a")
    gone(stage, "a")
    stage.wait(PUSH_SECONDS + 1)
    assert passes(stage, urgent) == ["n1"]
    if unbound == "refused":
        stage.server.failures = [409]
        assert stage.bound(urgent, "n1") != ""
    stage.wait(PUSH_SECONDS + 1)
    assert passes(stage, newcomer(stage)) == []


def test_nobody_goes_elsewhere_for_a_pod_whose_room_is_coming() -> None:
    """kube-scheduler asks about other nodes once it knows of the end, or counts where devices decide."""
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0), running("b", "n2", 0), important("urgent"))
    urgent = stage.server.pods["urgent"]
    assert offered(stage, urgent) == {"n1": ["uid-a"]}
    assert offered(stage, urgent, "n2") == {}, "a goes, though it is not seen yet"
    assert offered(stage, urgent, "n1", "n2") == {"n1": ["uid-a"]}, "kube-scheduler has not done it"
    stage.wait(PUSH_SECONDS)
    assert offered(stage, urgent, "n2") == {"n2": ["uid-b"]}, "it has never done it"


def test_it_moves_where_the_first_room_is_lost() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1), gpu_node("n3", 1))
    stage.create(running("a", "n1", 0), running("b", "n2", 0), running("c", "n3", 0))
    urgent = pushed(stage, important("urgent"), "a", node="n1")
    gone(stage, "a")
    assert offered(stage, urgent, "n2", "n3") == {}
    stage.extender.observe("nodes", "DELETED", gpu_node("n1", 1))
    assert set(offered(stage, urgent, "n2", "n3")) == {"n2"}
    stage.change("urgent", "status", nominatedNodeName="n2")
    gone(stage, "b")
    assert passes(stage, newcomer(stage, "another"), "n2") == []


def test_small_pods_that_come_together_share_the_place_of_a_large_one() -> None:
    stage = Stage(gpu_node("n1", 4), gpu_node("n2", 4))
    stage.create(running("big-1", "n1", 0, 1, 2, 3), running("big-2", "n2", 0, 1, 2, 3))
    urgent = [important(f"urgent-{n}") for n in range(5)]
    stage.create(*urgent)
    answers = [offered(stage, pod) for pod in urgent]
    assert answers == [*[{"n1": ["uid-big-1"]}] * 4, {"n2": ["uid-big-2"]}]
    gone(stage, "big-1")
    for pod in urgent[:4]:
        assert stage.bound(pod, "n1") == ""


def test_a_nomination_that_comes_long_after_the_answer_is_enough() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0), important("urgent"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-a"]}
    stage.wait(PUSH_SECONDS + 1)
    stage.change("urgent", "status", nominatedNodeName="n1")
    stage.change("a", "metadata", deletionTimestamp="2026-01-01T00:00:00Z")
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == []


def test_no_plan_has_devices_of_those_who_go_for_another_before_they_end() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("big", "n1", 0, 1), important("urgent"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-big"]}
    request = replace(member(stage, priority=100), preempt=True)
    assert not isinstance(stage.extender.plan(request), Planned)
    gone(stage, "big")
    assert isinstance(stage.extender.plan(request), Planned)


def test_room_whose_victims_go_is_kept_before_a_nomination_is_seen() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0), important("urgent"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-a"]}
    gone(stage, "a")
    stage.wait(PUSH_SECONDS + 1)
    assert not isinstance(stage.extender.plan(member(stage, priority=0)), Planned)


def test_what_kube_scheduler_never_does_keeps_no_room_for_ever() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("a", "n1", 0), important("urgent", gpus=2))
    other = newcomer(stage)
    for _ in range(3):
        offered(stage, stage.server.pods["urgent"])
        stage.wait(PUSH_SECONDS - 1)
    assert passes(stage, other) == ["n1"]


def test_a_preemptor_that_is_ending_keeps_nothing() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    urgent = pushed(stage, important("urgent"), "a")
    stage.change("urgent", "metadata", deletionTimestamp="2026-01-01T00:00:00Z")
    gone(stage, "a")
    assert passes(stage, newcomer(stage)) == ["n1"]
    gone(stage, "other")
    stage.create(running("b", "n1", 0))
    assert offered(stage, urgent) == {"n1": ["uid-b"]}, "asked late"
    gone(stage, "b")
    assert passes(stage, newcomer(stage, "another")) == ["n1"]


def has_been_seen_bound(stage: Stage) -> None:
    assert stage.bound(stage.server.pods["first"], "n1") == ""
    stage.create(stage.server.pods["first"])


def is_being_bound(stage: Stage) -> None:
    stage.server.slow = 10
    stage.bind(stage.server.pods["first"], "n1")
    stage.settle()


def may_have_been_bound(stage: Stage) -> None:
    stage.server.failures, stage.server.silent = [503], True
    assert stage.bound(stage.server.pods["first"], "n1") != ""


@pytest.mark.parametrize("happens", [has_been_seen_bound, is_being_bound, may_have_been_bound])
def test_a_late_question_about_a_pod_whose_binding_was_sent_gives_its_devices_to_nobody(
    happens: Callable[[Stage], None],
) -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("low", "n2", 0), important("first"))
    before = copy.deepcopy(stage.server.pods["first"])
    assert passes(stage, before) == ["n1"]
    happens(stage)
    offered(stage, before, "n2")
    stage.wait(PUSH_SECONDS + 1)
    vip = important("vip", priority=1000)
    stage.create(vip)
    assert passes(stage, vip) == []


def test_a_seat_is_given_up_for_nobody() -> None:
    stage = Stage(gpu_node("n1", 1, cpu="8"))
    stage.create(gpu_pod("low", 0, node="n1", cpu="8", phase="Running"))
    member(stage, priority=100)
    seat = {"m0": ("n1", [device("n1", 0)])}
    record = reservation("solo", seat, expires=stage.clock.now() + 300, needed=1)
    stage.extender.observe("reservations", "ADDED", record)
    assert offered(stage, stage.server.pods["m0"]) == {"n1": ["uid-low"]}
    gone(stage, "low")
    vip = important("vip", priority=1000)
    stage.create(vip)
    assert passes(stage, vip) == []


def test_a_plan_at_the_expense_of_others_holds_while_those_go_that_go_for_another_pod() -> None:
    stage = Stage(gpu_node("n1", 2))
    stage.create(running("a", "n1", 0), running("b", "n1", 1), important("urgent"))
    stage.create(gpu_pod("idle", 0, node="n1", phase="Running"))
    assert offered(stage, stage.server.pods["urgent"]) == {"n1": ["uid-a"]}
    request = replace(member(stage, priority=100), preempt=True)
    found = stage.extender.search(request)()
    gone(stage, "idle")
    assert isinstance(found, Found)
    assert isinstance(stage.extender.planned(request, found), Planned)


def test_a_plan_that_passed_over_it_is_made_anew_once_the_pod_is_bound_there() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    urgent = pushed(stage, important("urgent"), "a")
    gone(stage, "a")
    request = member(stage, priority=1000)
    found = stage.extender.search(request)()
    assert isinstance(found, Found)
    assert passes(stage, urgent) == ["n1"]
    assert stage.bound(urgent, "n1") == ""
    stage.create(stage.server.pods["urgent"])
    assert not isinstance(stage.extender.planned(request, found), Planned)


def test_a_plan_that_passes_over_it_is_the_same_when_asked_for_again() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("a", "n1", 0))
    pushed(stage, important("urgent"), "a")
    gone(stage, "a")
    request = member(stage, priority=1000)
    first = stage.extender.plan(request)
    stage.wait(1)
    assert isinstance(first, Planned)
    assert stage.extender.plan(request) == first


def test_the_device_is_its_owners_as_long_as_it_has_one() -> None:
    stage = Stage(gpu_node("n1", 1))
    stage.create(running("z-victim", "n1", 0))
    pushed(stage, important("a-urgent"), "z-victim")
    node = stage.extender.ledger.node("n1", stage.clock.now())
    assert node is not None
    assert [*node.owners.values()] == ["uid-z-victim"]
