"""What is found about a cluster that changes meanwhile: nobody goes in vain, nor because of what was a moment ago."""

from collections.abc import Callable

import pytest

from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable, Unready
from gpuyard_extender.deciding.searching import Found
from tests.extender.builders import Stage, gpu_node
from tests.extender.deciding.test_evicting import asked, full, gang, planned, spare, waiting
from tests.extender.deciding.test_preempt_verb import important, offered, running


def answered(stage: Stage, question: PlanRequest, happens: Callable[[], object]) -> PlanAnswer | None:
    """The answer from what is found while something happens."""
    found = stage.extender.search(question)()
    assert isinstance(found, Found)
    happens()
    return stage.extender.planned(question, found)


@pytest.mark.parametrize("meanwhile", ["made way for", "spared"])
def test_who_would_go_in_vain_or_may_not_any_more_when_the_answer_comes_does_not(meanwhile: str) -> None:
    """Others are looked for, and while that lasts the ledger changes."""
    stage = full()

    def happens() -> None:
        if meanwhile == "spared":
            spare(stage, "r1")
        else:
            stage.delete(stage.server.pods["r0"])
            stage.create(running("vip", "n1", 0, priority=1000))

    assert answered(stage, asked("u0", "u1"), happens) is None, "looked for anew"
    assert {victim.name for victim in planned(stage, "u0", "u1").victims} & {"x", "y"}


def test_what_a_victim_leaves_to_a_nominated_pod_is_left_to_it() -> None:
    stage = Stage(gpu_node("n1", 1))
    gang(stage, "urgent", 1)
    vip = important(priority=1000)
    stage.create(running("v", "n1", 0), waiting("u0"), vip)

    def happens() -> None:
        assert offered(stage, vip) == {"n1": ["uid-v"]}
        stage.change("v", "metadata", deletionTimestamp="2026-01-01T00:00:00Z")
        stage.change("vip", "status", nominatedNodeName="n1")

    assert answered(stage, asked("u0"), happens) is None, "looked for anew"
    assert isinstance(stage.extender.plan(asked("u0")), Unplaceable)
    stage.delete(stage.server.pods["v"])
    assert stage.filter(vip)["NodeNames"] == ["n1"]


def test_who_takes_free_places_meanwhile_goes_if_that_is_less_important() -> None:
    stage = Stage(gpu_node("n1"))
    gang(stage, "urgent", 2)
    stage.create(waiting("u0"), waiting("u1"))
    question = asked("u0", "u1")
    assert answered(stage, question, lambda: stage.create(running("low", "n1", 0))) is None, "looked for anew"
    assert [victim.name for victim in planned(stage, "u0", "u1").victims] == ["low"]


def test_places_that_are_taken_time_and_again_are_looked_for_three_times_in_a_row() -> None:
    stage = Stage(gpu_node("n1", 1))
    gang(stage, "urgent", 1)
    stage.create(waiting("u0"))
    answers, before = list[PlanAnswer | None](), None
    for i in range(3):
        before = stage.extender.search(asked("u0"), before)()
        assert isinstance(before, Found)
        stage.create(running(f"low{i}", "n1", 0))
        answers.append(stage.extender.planned(asked("u0"), before))
        stage.delete(stage.server.pods[f"low{i}"])
    assert answers[:2] == [None, None]
    assert isinstance(answers[2], Unready), "and the operator asks again, later"
