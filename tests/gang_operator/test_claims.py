"""Members that say in other ways than the usual one where they belong."""

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from tests.gang_operator.world import World, pod_path

OLD = "pod-group.scheduling.sigs.k8s.io"
VOLCANO = "scheduling.k8s.io/group-name"
FORMS: dict[str, JSON] = {
    "label": {"labels": {OLD: "ring"}},
    "annotation": {"annotations": {VOLCANO: "ring"}},
}


@pytest.fixture
def world() -> World:
    found = World()
    found.node("node-1", gpus=4)
    found.group(minMember=2)
    return found


def member(world: World, name: str, marks: JSON, **spec: object) -> None:
    limits = {"limits": {vocabulary.GPU: "1"}}
    containers = [{"name": "main", "image": "busybox:1.36", "resources": limits}]
    gates = [] if "schedulingGroup" in spec else [{"name": vocabulary.GANG_GATE}]
    body = {"containers": containers, "schedulingGates": gates, **spec}
    world.api.create(pod_path(""), {"metadata": {"name": name, **marks}, "spec": body})


@pytest.mark.parametrize("form", FORMS)
def test_older_forms_and_the_usual_one_make_one_gang(world: World, form: str) -> None:
    world.pod("a")
    world.settle()
    assert world.condition()["message"] == "1/2 pods present"
    member(world, "b", FORMS[form])
    world.settle()
    assert set(world.bound()) == {"a", "b"}


@pytest.mark.parametrize("form", FORMS)
def test_members_of_older_forms_are_seen_when_the_pods_are_looked_at_again(world: World, form: str) -> None:
    """Before an eviction: a selector on the usual label would not find them, and they would be forgotten."""
    world.binds_refused.add("b")
    for name in "ab":
        member(world, name, FORMS[form])
    world.settle()
    assert set(world.bound()) == {"a"}
    world.advance(4.9)
    assert world.bound() == {}
    world.binds_refused.clear()
    member(world, "a", FORMS[form])
    world.settle()
    assert set(world.bound()) == {"a", "b"}


def test_a_pod_that_kube_scheduler_starts_with_another_group_is_counted_and_not_waited_for_unawares(
    world: World,
) -> None:
    """G40."""
    marks = {"labels": {vocabulary.POD_GROUP: "ring"}}
    member(world, "native", marks, schedulingGroup={"podGroupName": "other"})
    world.pod("a")
    world.settle()
    assert world.condition()["message"] == (
        "1/2 pods present; 1 more left to kube-scheduler by their spec.schedulingGroup"
    )
    world.pod("b")
    world.settle()
    assert set(world.bound()) == {"a", "b"}


BOTH: JSON = {"labels": {vocabulary.POD_GROUP: "ring"}, "annotations": {VOLCANO: "tree"}}


def test_a_pod_that_two_groups_claim_is_of_the_first_and_the_other_says_who_has_it(world: World) -> None:
    """G40: whichever comes first, pods or groups, and while the pods have not ended."""
    member(world, "a", BOTH)
    world.settle()
    world.group("tree", minMember=2)
    world.settle()
    one = "0/2 pods present; 1 pod is claimed by another group too: ring"
    assert world.condition(name="tree")["message"] == one
    assert world.condition()["message"] == "1/2 pods present"
    member(world, "b", BOTH)
    world.settle()
    assert set(world.bound()) == {"a", "b"}
    two = "0/2 pods present; 2 pods are claimed by another group too: ring"
    assert world.condition(name="tree")["message"] == two
    world.restart()
    world.advance(5)
    assert world.condition(name="tree")["message"] == two
    world.phase("a", "Succeeded")
    world.settle()
    assert world.condition(name="tree")["message"] == one
    world.delete(pod_path("b"))
    world.settle()
    assert world.condition(name="tree")["message"] == "0/2 pods present"


def test_a_group_has_the_pods_that_it_was_refused_once_no_other_claims_them_first(world: World) -> None:
    world.group("tree", minMember=2)
    for name in "ab":
        member(world, name, BOTH, schedulingGates=[{"name": vocabulary.GANG_GATE}, {"name": "other/gate"}])
    world.settle()
    for name in "ab":
        world.api.patch(pod_path(name), {"metadata": {"labels": {vocabulary.POD_GROUP: None}}})
    world.settle()
    assert world.condition()["message"] == "0/2 pods present"
    assert (
        world.condition(name="tree")["message"]
        == "0/2 pods present; 2 more held by scheduling gates of others"
    )


def test_each_group_that_has_what_another_claims_is_named(world: World) -> None:
    world.group("tree", minMember=4)
    for name, first in ("a", "ring"), ("b", "star"), ("c", "ring"):
        member(world, name, {"labels": {OLD: first}, "annotations": {VOLCANO: "tree"}})
    member(world, "d", {"labels": {OLD: "tree"}, "annotations": {VOLCANO: "tree"}})
    world.settle()
    said = "1/4 pods present; 3 pods are claimed by another group too: ring, star"
    assert world.condition(name="tree")["message"] == said


def test_members_of_several_schedulers_are_told_apart(world: World) -> None:
    """G43: each scheduler binds its own, and none of them waits for the others."""
    world.group("other", minMember=3)
    for name, scheduler in ("a", "volcano"), ("b", ""), ("c", "volcano"):
        marks = {"labels": {vocabulary.POD_GROUP: "other"}}
        member(world, name, marks, **({"schedulerName": scheduler} if scheduler else {}))
    world.delete(pod_path("c"))
    world.advance(5)
    said = "2/3 pods present; its pods are of several schedulers: default-scheduler (1), volcano (1)"
    assert world.condition(name="other")["message"] == said
    written = len(world.api.writes)
    world.advance(60)
    assert len(world.api.writes) == written
