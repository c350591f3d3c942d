"""Room that kube-scheduler makes by the verb Preempt stays its preemptor's."""

from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.writes import JSON
from gpuyard_extender.settings import NOMINATED_SECONDS, PUSH_SECONDS
from tests.extender.builders import Stage, gpu_node, gpu_pod, pod_group
from tests.extender.test_preempt_verb import important, offered, running


def passes(stage: Stage, pod: JSON) -> list[str]:
    return stage.filter(pod)["NodeNames"]


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


def test_of_several_nodes_the_one_that_the_pod_is_nominated_for_is_kept() -> None:
    stage = Stage(gpu_node("n1", 1), gpu_node("n2", 1))
    stage.create(running("a", "n1", 0), running("b", "n2", 0))
    pushed(stage, important("urgent"), "b", node="n2")
    stage.delete(stage.server.pods["a"])
    stage.delete(stage.server.pods["b"])
    other = gpu_pod("other")
    stage.create(other)
    assert passes(stage, other) == ["n1"]


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
