"""Plans of gangs: repeated questions, and what ends a promise."""

from dataclasses import replace

from gpuyard import vocabulary
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.nearness import Domain, Nearness
from gpuyard.groups.plans import Planned, PlanRequest, Unready
from gpuyard.writes import JSON
from gpuyard_extender.deciding.searching import Found
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group

REQUEST = PlanRequest("default", "g", 2, ("uid-m0", "uid-m1"))


def stage_of_two() -> Stage:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    return stage


def test_the_same_question_gets_the_same_answer_for_a_minute() -> None:
    stage = stage_of_two()
    first = stage.extender.plan(REQUEST)
    assert isinstance(first, Planned)
    assert first.reservation.expires == stage.clock.now() + 60
    stage.wait(59)
    assert stage.extender.plan(REQUEST) == first
    stage.wait(1)
    later = stage.extender.plan(REQUEST)
    assert isinstance(later, Planned)
    assert later.reservation.expires == stage.clock.now() + 60


def test_a_promise_that_no_longer_holds_is_planned_anew() -> None:
    stage = Stage(*(gpu_node(f"node-{i}", 1) for i in (1, 2, 3)))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    stage.extender.plan(REQUEST)
    stage.create(gpu_pod("thief", node="node-2", truth=[device("node-2", 0)], phase="Running"))
    answer = stage.extender.plan(REQUEST)
    assert isinstance(answer, Planned)
    assert [seat.node for seat in answer.reservation.seats] == ["node-1", "node-3"]


def test_a_new_question_about_a_group_gives_up_the_places_of_the_last_one() -> None:
    stage = stage_of_two()
    stage.extender.plan(REQUEST)
    stage.extender.plan(PlanRequest("default", "g", 1, ("uid-m0",)))
    assert stage.filter(gpu_pod("other"))["NodeNames"] == ["node-2"]


def test_members_that_are_unknown_or_wait_no_more_make_no_plan() -> None:
    stage = stage_of_two()
    assert isinstance(stage.extender.plan(PlanRequest("default", "g", 1, ("uid-nobody",))), Unready)
    stage.extender.observe("pods", "MODIFIED", gpu_pod("m0", group="g", node="node-1"))
    assert isinstance(stage.extender.plan(REQUEST), Unready)


def test_the_cpu_of_a_planned_gang_is_held_too() -> None:
    stage = Stage(gpu_node("node-1", 2, cpu="4"))
    stage.create(gpu_pod("m0", cpu="3", group="g"))
    stage.extender.plan(PlanRequest("default", "g", 1, ("uid-m0",)))
    assert stage.filter(gpu_pod("other", cpu="2"))["NodeNames"] == []
    assert stage.filter(gpu_pod("small", cpu="1"))["NodeNames"] == ["node-1"]


def test_pods_of_another_group_or_namespace_hold_no_places_by_this_groups_plan() -> None:
    stage = stage_of_two()
    stage.create(gpu_pod("alone"), gpu_pod("of-another", group="other"))
    for group, uid in (("g", "uid-alone"), ("g", "uid-of-another"), ("other", "uid-m0")):
        assert isinstance(stage.extender.plan(PlanRequest("default", group, 1, (uid,))), Unready)
    assert isinstance(stage.extender.plan(PlanRequest("elsewhere", "g", 1, ("uid-m0",))), Unready)
    assert stage.filter(gpu_pod("free"))["NodeNames"] == ["node-1", "node-2"]


def racked(name: str, gpus: int, rack: str) -> JSON:
    found = gpu_node(name, gpus)
    found["metadata"]["labels"] = {vocabulary.RACK: rack}
    return found


def test_a_gang_that_wants_one_rack_is_planned_in_one_and_its_late_members_too() -> None:
    stage = Stage(racked("node-1", 1, "a"), racked("node-2", 1, "b"), racked("node-3", 2, "b"))
    stage.create(*(gpu_pod(f"m{i}", group="g") for i in range(3)))
    wish = Nearness(Domain.SAME_RACK)
    answer = stage.extender.plan(replace(REQUEST, nearness=wish))
    assert isinstance(answer, Planned)
    assert {seat.node for seat in answer.reservation.seats} <= {"node-2", "node-3"}
    for i in range(2):
        bound = gpu_pod(f"m{i}", group="g", node="node-3", truth=[device("node-3", i)], phase="Running")
        stage.extender.observe("pods", "MODIFIED", bound)
    late = stage.extender.plan(PlanRequest("default", "g", 1, ("uid-m2",), nearness=wish))
    assert isinstance(late, Planned)
    assert [seat.node for seat in late.reservation.seats] == ["node-2"]


def test_a_gang_is_explained_with_the_wish_of_its_group() -> None:
    stage = Stage(racked("node-1", 1, "a"), racked("node-2", 1, "b"))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    group = pod_group("g", 2)
    for wanted, code in ("same-rack", "GangUnplaceable"), ("nvlink", "InvalidRequest"):
        group["metadata"]["annotations"] = {vocabulary.TOPOLOGY: wanted}
        group["metadata"]["resourceVersion"] = str(int(group["metadata"]["resourceVersion"]) + 1)
        stage.extender.observe("podgroups", "MODIFIED", group)
        said = stage.extender.explain("default", "m0")
        assert said is not None
        assert said["code"] == code


def test_what_became_worse_while_places_were_looked_for_is_looked_for_again() -> None:
    stage = Stage(*(gpu_node(f"node-{i}", 1) for i in (1, 2, 3)))
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    found = stage.extender.search(REQUEST)()
    assert isinstance(found, Found)
    stage.create(gpu_pod("thief", node="node-1", truth=[device("node-1", 0)], phase="Running"))
    answer = stage.extender.planned(REQUEST, found)
    assert isinstance(answer, Planned)
    assert [seat.node for seat in answer.reservation.seats] == ["node-2", "node-3"]


def test_places_on_one_node_must_hold_beside_each_other_when_its_room_has_shrunk() -> None:
    stage = Stage(gpu_node("node-1", 3, cpu="6"), gpu_node("node-2", 4))
    stage.create(gpu_pod("m0", cpu="2", group="g"), gpu_pod("m1", cpu="2", group="g"))
    found = stage.extender.search(REQUEST)()
    assert isinstance(found, Found)
    assert not isinstance(found.places, GangRejection)
    assert {place.node for place in found.places} == {"node-1"}
    stage.create(gpu_pod("other", cpu="3", node="node-1", gpus=0, phase="Running"))
    answer = stage.extender.planned(REQUEST, found)
    assert isinstance(answer, Planned)
    assert {seat.node for seat in answer.reservation.seats} == {"node-1", "node-2"}


def test_a_member_that_is_gone_when_its_place_is_found_makes_no_plan() -> None:
    stage = stage_of_two()
    found = stage.extender.search(REQUEST)()
    assert isinstance(found, Found)
    stage.extender.observe("pods", "DELETED", gpu_pod("m1", group="g"))
    assert isinstance(stage.extender.planned(REQUEST, found), Unready)
