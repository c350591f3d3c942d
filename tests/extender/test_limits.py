"""Thousandths and memory of a GPU through the verbs: kept, given back, and known again after a restart."""

import pytest

from gpuyard import annotations, vocabulary
from gpuyard.groups.plans import Planned, PlanRequest, Unplaceable
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from tests.extender.advice.test_simulating import ask, of_kind
from tests.extender.builders import Stage, device, gpu_node, gpu_pod
from tests.extender.deciding.test_preempt_verb import offered


def share(name: str, milli: int = 0, memory: str = "", **more: object) -> JSON:
    found = gpu_pod(name, 1, resource=vocabulary.GPU_SHARED, **more)  # type: ignore[arg-type]
    said = {vocabulary.GPU_MILLI: str(milli) if milli else "", vocabulary.GPU_MEMORY: memory}
    marks = found["metadata"].setdefault("annotations", {})
    marks |= {key: text for key, text in said.items() if text}
    return found


def running(name: str, milli: int, replica: int = 0, gpu: int = 0, priority: int = 0) -> JSON:
    ids = [f"{device('n1', gpu)}::{replica}"]
    found = share(name, milli, node="n1", plan=ids, truth=ids, phase="Running")
    found["spec"]["priority"] = priority
    return found


def stage_of(gpus: int = 1) -> Stage:
    return Stage(gpu_node("n1", gpus, shares=10))


def passes(stage: Stage, pod: JSON) -> bool:
    return bool(stage.filter(pod)["NodeNames"])


def place(stage: Stage, pod: JSON) -> str:
    """Create, filter and bind; the device that was planned."""
    stage.create(pod)
    assert passes(stage, pod)
    assert stage.bound(pod, "n1") == ""
    bound = stage.server.pods[pod["metadata"]["name"]]
    stage.extender.observe("pods", "MODIFIED", bound)
    plan = annotations.read_allocation(bound["metadata"]["annotations"][vocabulary.ALLOCATION])
    assert plan is not None
    return plan["train"][vocabulary.GPU_SHARED][0]


def test_what_filter_assumes_and_bind_gives_counts_at_once() -> None:
    stage = stage_of()
    first, second = share("a", 600), share("b", 600)
    stage.create(first, second)
    assert passes(stage, first)
    assert not passes(stage, second), "the first is only assumed"
    assert place(stage, first) == f"{device('n1', 0)}::0"
    assert not passes(stage, second)
    assert passes(stage, share("c", 400))
    stage.delete(stage.server.pods["a"])
    assert passes(stage, second)


def test_bind_decides_by_the_newest_state() -> None:
    stage = stage_of()
    pod = share("a", 600)
    stage.create(pod)
    assert passes(stage, pod)
    stage.create(running("thief", 500, replica=7))
    assert stage.bound(pod, "n1") == Reason.SHARES_EXHAUSTED.text


def test_a_place_that_is_worth_less_than_assumed_is_given_up_for_another() -> None:
    stage = stage_of(2)
    pod = share("a", 600)
    stage.create(pod)
    assert passes(stage, pod)
    stage.create(running("thief", 500, replica=7))
    assert stage.bound(pod, "n1") == ""
    assert f"{device('n1', 1)}::0" in stage.server.pods["a"]["metadata"]["annotations"][vocabulary.ALLOCATION]


def test_a_seat_that_is_worth_less_than_planned_is_none() -> None:
    stage = stage_of(2)
    member = share("m0", 600, group="g")
    stage.create(member)
    assert isinstance(stage.extender.plan(PlanRequest("default", "g", 1, ("uid-m0",))), Planned)
    assert passes(stage, member)
    stage.create(running("thief", 500, replica=7))
    assert list(stage.filter(member)["FailedAndUnresolvableNodes"].values()) == [Reason.SHARES_EXHAUSTED.text]


def test_a_restarted_extender_knows_the_thousandths_from_the_pods() -> None:
    stage = stage_of(2)
    stage.create(running("a", 900), running("b", 500, gpu=1))
    assert place(stage, share("c", 300)) == f"{device('n1', 1)}::1"
    again = stage_of(2)
    again.create(*stage.server.pods.values())
    assert passes(again, share("d", 200)) == passes(stage, share("d", 200)) is True
    assert passes(again, share("e", 201)) == passes(stage, share("e", 201)) is False


def test_a_gang_is_planned_with_what_its_members_say() -> None:
    stage = stage_of()
    stage.create(share("m0", 600, group="g"), share("m1", 400, group="g"))
    planned = stage.extender.plan(PlanRequest("default", "g", 2, ("uid-m0", "uid-m1")))
    assert isinstance(planned, Planned)
    assert not passes(stage, share("other", 1))
    stage = stage_of()
    stage.create(share("m0", 600, group="g"), share("m1", 500, group="g"))
    refused = stage.extender.plan(PlanRequest("default", "g", 2, ("uid-m0", "uid-m1")))
    assert isinstance(refused, Unplaceable)
    assert refused.member == "m1"


def test_preemption_frees_as_much_as_is_needed_and_no_more() -> None:
    stage = stage_of()
    stage.create(running("a", 500, priority=5), running("b", 300, 1), running("c", 200, 2))
    vip = share("vip", 250)
    vip["spec"]["priority"] = 100
    assert offered(stage, vip) == {"n1": ["uid-b"]}


def test_explain_and_simulate_say_what_each_gpu_has_left() -> None:
    stage = stage_of(2)
    stage.create(running("a", 750), running("b", 900, gpu=1), share("c", 300))
    found = stage.extender.explain("default", "c")
    assert found is not None
    left = "GPU 0 has 250 thousandths and 10240 MiB left, GPU 1 has 100 thousandths and 4096 MiB left"
    assert (found["code"], found["nodes"][0]["detail"]) == (
        Reason.SHARES_EXHAUSTED,
        f"needs 300 thousandths of a GPU; {left}",
    )
    [outcome] = ask(stage, of_kind("Pod", share("d", 300)))["outcomes"]
    assert (outcome["fits"], outcome["code"]) == (False, "SharesExhausted")
    assert "ask for 250 thousandths of a GPU instead of 300" in [r["text"] for r in outcome["remedies"]]


@pytest.mark.parametrize("counts", [True, False])
def test_nodes_that_cannot_keep_count_are_refused_by_name(counts: bool) -> None:
    stage = Stage(gpu_node("n1", 1, shares=10, inventory=not counts))
    pod = share("a", 300) if counts else gpu_pod("a", 2, resource=vocabulary.GPU_SHARED)
    if not counts:
        pod["metadata"]["annotations"] = {vocabulary.GPU_MILLI: "300"}
    stage.create(pod)
    assert not passes(stage, pod)
    found = stage.extender.explain("default", "a")
    assert found is not None
    assert found["code"] == (Reason.NO_SUCH_RESOURCE if counts else Reason.INVALID_REQUEST)
    detail = found["nodes"][0]["detail"] if counts else found["detail"]
    assert detail.startswith("gpuyard.io/gpu-milli: ")


def test_a_pod_that_limits_a_share_but_asks_for_none_is_told_and_holds_nothing() -> None:
    stage = stage_of()
    pod = gpu_pod("a", 0)
    pod["metadata"]["annotations"] = {vocabulary.GPU_MEMORY: "1Gi"}
    stage.create(pod)
    found = stage.extender.explain("default", "a")
    assert found is not None
    assert found["code"] == Reason.INVALID_REQUEST
    stage.extender.observe("pods", "MODIFIED", {**pod, "spec": {**pod["spec"], "nodeName": "n1"}})
    assert not any("without a readable plan" in text for text in stage.told)
