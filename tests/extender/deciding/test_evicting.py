"""Plans at the expense of others: what the operator is told when it asks whom to evict."""

import pytest

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.groups.plans import Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation, Victim
from gpuyard.pods import memberships
from gpuyard.writes import JSON
from gpuyard_extender.deciding.searching import Found
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, metadata, pod_group
from tests.extender.deciding.test_preempt_verb import important, offered, running


def waiting(name: str, group: str | None = "urgent", gpus: int = 1, priority: int = 100) -> JSON:
    found = gpu_pod(name, gpus, group=group)
    found["spec"]["priority"] = priority
    return found


def gang(stage: Stage, name: str, needed: int) -> None:
    stage.extender.observe("podgroups", "ADDED", pod_group(name, needed))


def asked(*names: str, group: str = "urgent") -> PlanRequest:
    return PlanRequest("default", group, len(names), tuple(f"uid-{name}" for name in names), preempt=True)


def planned(stage: Stage, *names: str, group: str = "urgent") -> Reservation:
    answer = stage.extender.plan(asked(*names, group=group))
    assert isinstance(answer, Planned), answer
    return answer.reservation


def spare(stage: Stage, name: str) -> None:
    """The pod says from now on that it makes way for nobody."""
    kept = stage.server.pods[name]
    kept["metadata"]["annotations"][vocabulary.PREEMPTIBLE] = "false"
    metadata = {**kept["metadata"], "resourceVersion": "99999"}
    stage.extender.observe("pods", "MODIFIED", {**kept, "metadata": metadata})


def full() -> Stage:
    """Two nodes of two GPUs, held by a gang of two over both, a pod on each, and a gang that waits for them."""
    stage = Stage(gpu_node("n1"), gpu_node("n2"))
    gang(stage, "ring", 2)
    gang(stage, "urgent", 2)
    stage.create(running("r0", "n1", 0, group="ring"), running("r1", "n2", 0, group="ring"))
    stage.create(running("x", "n1", 1, priority=5), running("y", "n2", 1, priority=5))
    stage.create(waiting("u0"), waiting("u1"))
    return stage


def test_a_whole_gang_of_less_importance_is_named_with_the_places_that_it_leaves() -> None:
    stage = full()
    found = planned(stage, "u0", "u1")
    assert [(victim.name, victim.group) for victim in found.victims] == [("r0", "ring"), ("r1", "ring")]
    assert {seat.node for seat in found.seats} == {"n1", "n2"}
    assert stage.told[-1] == "Plan urgent: u0 on n1, u1 on n2, once these are gone: r0, r1"
    assert found.expires == stage.clock.now() + 60, "beside the time that victims get to end"


def test_the_freed_devices_are_nobody_elses() -> None:
    stage = full()
    planned(stage, "u0", "u1")
    for name in ("r0", "r1"):
        stage.delete(stage.server.pods[name])
    assert stage.filter(important("other", priority=1000))["NodeNames"] == []


def test_who_waits_for_others_to_go_is_told_so() -> None:
    stage = full()
    planned(stage, "u0", "u1")
    told = stage.extender.explain("default", "u0")
    assert told is not None
    assert (told["code"], told["detail"]) == (
        "InsufficientGPUs",
        "has a seat on n1 once these are gone: r0, r1",
    )


def test_without_the_wish_nobody_goes() -> None:
    answer = full().extender.plan(PlanRequest("default", "urgent", 2, ("uid-u0", "uid-u1")))
    assert isinstance(answer, Unplaceable)


def test_nobody_goes_for_a_gang_that_does_not_fit_even_then() -> None:
    """G12: it would be evicted and made anew for ever."""
    stage = full()
    stage.create(*(waiting(f"u{i}", gpus=2) for i in (2, 3, 4)))
    assert isinstance(stage.extender.plan(asked("u2", "u3", "u4")), Unplaceable)


@pytest.mark.parametrize("why", ["never", "spared", "equal", "budget"])
def test_nobody_goes_who_need_not(why: str) -> None:
    stage = Stage(gpu_node("n1", 1))
    low, high = running("low", "n1", 0), waiting("u0")
    match why:
        case "never":
            high["spec"]["preemptionPolicy"] = "Never"
        case "spared":
            low["metadata"]["annotations"][vocabulary.PREEMPTIBLE] = "false"
        case "equal":
            low["spec"]["priority"] = 100
        case "budget":
            low["metadata"]["labels"] = {"app": "db"}
            budget = {"metadata": metadata("keep", None, "default"), "spec": {"selector": {}}, "status": {}}
            stage.extender.observe("poddisruptionbudgets", "ADDED", budget)
    stage.create(low, high)
    assert isinstance(stage.extender.plan(asked("u0")), Unplaceable)
    if why == "spared":
        assert offered(stage, important()) == {}, "kube-scheduler is not told of it either"


def test_a_gang_one_of_whose_members_makes_way_for_nobody_stays_whole() -> None:
    stage = full()
    spare(stage, "r1")
    assert {victim.name for victim in planned(stage, "u0", "u1").victims} == {"x", "y"}


def test_who_is_on_the_way_out_is_waited_for_and_nobody_else_goes() -> None:
    """So that a decision that was lost after the evictions is not made at the expense of others."""
    stage = Stage(gpu_node("n1", 2))
    going = running("going", "n1", 0, terminating=True)
    going["spec"]["terminationGracePeriodSeconds"] = 300
    stage.create(going, running("low", "n1", 1), waiting("u0"))
    found = planned(stage, "u0")
    assert found.victims == (Victim("uid-going", "default", "going"),)
    assert found.expires == stage.clock.now() + 360


@pytest.mark.parametrize("terminating", [False, True])
@pytest.mark.parametrize("seconds", [10**6, 10**12, 2**63 - 1])
def test_however_long_a_victim_may_take_the_answer_can_be_written_down(
    seconds: int, terminating: bool
) -> None:
    stage = Stage(gpu_node("n1", 1))
    low = running("low", "n1", 0, terminating=terminating)
    low["spec"]["terminationGracePeriodSeconds"] = seconds
    stage.create(low, waiting("u0"))
    found = planned(stage, "u0")
    assert found.expires == stage.clock.now() + 24 * 3600 + 60
    assert reservations.from_object(reservations.to_object(found, "uid-urgent")) == found


def test_for_a_pod_alone_places_are_held_only_where_somebody_has_to_go() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("low", "n1", 0), waiting("vip", group=None))
    name = memberships.alone("uid-vip")
    assert isinstance(stage.extender.plan(asked("vip", group=name)), Unready)
    stage.create(running("other", "n2", 0, priority=50))
    found = planned(stage, "vip", group=name)
    assert [victim.name for victim in found.victims] == ["low"]
    vip = stage.server.pods["vip"]
    assert stage.filter(vip)["NodeNames"] == []
    stage.delete(stage.server.pods["low"])
    assert stage.filter(vip)["NodeNames"] == ["n1"]
    assert stage.filter(important("thief", priority=1000))["NodeNames"] == []
    assert stage.bound(vip, "n1") == ""


def test_what_kube_scheduler_was_told_to_do_is_left_to_it() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    vip = waiting("vip", group=None)
    stage.create(running("a", "n1", 0), running("b", "n2", 0), vip)
    assert offered(stage, vip, "n1") == {"n1": ["uid-a"]}
    name = memberships.alone("uid-vip")
    assert isinstance(stage.extender.plan(asked("vip", group=name)), Unready)
    stage.wait(5)
    assert planned(stage, "vip", group=name).seats[0].allocation == {
        "train": {vocabulary.GPU: (device("n1", 0),)}
    }
    assert offered(stage, vip) == {"n1": ["uid-a"]}, "and then it names the same victim"


def test_nobody_is_evicted_for_a_pod_for_which_kube_scheduler_was_told_whom_to_remove_meanwhile() -> None:
    """Two would go for one place."""
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    vip = waiting("vip", group=None)
    stage.create(running("a", "n1", 0), running("b", "n2", 0), vip)
    question = asked("vip", group=memberships.alone("uid-vip"))
    found = stage.extender.search(question)()
    assert isinstance(found, Found)
    assert offered(stage, vip, "n2") == {"n2": ["uid-b"]}
    assert isinstance(stage.extender.planned(question, found), Unready)
