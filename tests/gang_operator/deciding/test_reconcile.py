"""Gangs from their first pod to their last, on a clock that is stepped: the rows of the table in `reconcile`."""

import pytest

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.groups.nearness import Domain, Nearness
from gpuyard.groups.plans import Unready
from gpuyard.writes import JSON
from gpuyard_operator.cache import PATHS
from gpuyard_operator.deciding.reconcile import reconcile
from gpuyard_operator.deciding.view import Decision, View
from tests.gang_operator.world import PLACES_SECONDS, World, group_path, pod_path


@pytest.fixture
def world() -> World:
    return World()


def gang(world: World, *pods: str, minimum: int = 2, room: int = 2) -> None:
    """Nodes with one GPU each, a group, its pods; and all that follows."""
    for number in range(1, room + 1):
        world.node(f"node-{number}", gpus=1)
    world.group(minMember=minimum)
    for pod in pods:
        world.pod(pod)
    world.settle()


def test_a_gang_with_room_is_bound_and_its_reservation_is_gone(world: World) -> None:
    gang(world, "a", "b")
    assert world.bound() == {"a": "node-1", "b": "node-2"}
    assert world.places() is None
    assert world.condition()["status"] == "True"


def test_the_verdict_is_recorded_then_all_are_nominated_then_the_gates_fall(world: World) -> None:
    gang(world, "a", "b")
    places, a, b = reservations.path("default"), pod_path("a"), pod_path("b")
    paths = [write.path for write in world.api.writes]
    assert [path for path in paths if path in (places, a, b, f"{a}/status", f"{b}/status")] == [
        places, f"{a}/status", f"{b}/status", a, b,
    ]  # fmt: skip


def test_missing_members_are_counted(world: World) -> None:
    gang(world, "a")
    assert world.condition()["reason"] == "GangWaiting"
    assert world.condition()["message"] == "1/2 pods present"
    assert world.questions == []
    world.pod("b")
    world.settle()
    assert len(world.bound()) == 2


def test_members_that_come_before_their_group_start_when_it_comes(world: World) -> None:
    """G24, G25: no polling, and nothing is refused meanwhile."""
    world.node("node-1", gpus=2)
    world.pod("a")
    world.pod("b")
    world.settle()
    assert world.api.writes == []
    world.group(minMember=2)
    world.settle()
    assert len(world.bound()) == 2


def test_a_gang_without_room_says_who_does_not_fit_and_why_and_starts_when_a_node_appears(
    world: World,
) -> None:
    """G2: no member is ever bound alone."""
    gang(world, "a", "b", room=1)
    assert world.condition()["reason"] == "GangUnplaceable"
    assert world.condition()["message"] == (
        'pod "b" does not fit: node-1: InsufficientGPUs (needs 1 GPUs, 0 free)'
    )
    world.advance(10)
    assert world.bound() == {}
    world.node("node-2", gpus=1)
    world.settle()
    assert len(world.bound()) == 2


def test_a_gang_starts_when_a_pod_without_a_group_frees_its_node(world: World) -> None:
    """G1: any pod that ends may have made room."""
    world.pod("plain", group="")
    gang(world, room=2)
    world.bind("plain", "node-1")
    world.pod("a")
    world.pod("b")
    world.advance(5)
    assert set(world.bound()) == {"plain"}
    world.phase("plain", "Succeeded")
    world.settle()
    assert set(world.bound()) == {"plain", "a", "b"}


def test_a_gang_without_room_asks_seldom_while_nothing_changes(world: World) -> None:
    """G3: bounded retry."""
    gang(world, "a", "b", room=1)
    world.advance(95)
    assert len(world.questions) <= 6
    assert world.bound() == {}


def test_the_second_binding_fails_and_the_first_is_undone_within_five_seconds(world: World) -> None:
    world.binds_refused.add("b")
    gang(world, "a", "b")
    assert set(world.bound()) == {"a"}
    world.advance(4.9)
    assert world.bound() == {}
    assert world.places() is None


@pytest.mark.parametrize("is_lost", [False, True], ids=["reserved", "without places"])
def test_of_a_gang_that_is_undone_no_member_is_left_that_could_start_alone(
    world: World, is_lost: bool
) -> None:
    """A gate cannot be put back, and of pods without GPUs no extender is asked."""
    world.binds_refused.update({"b", "c"})
    world.node("node-1", 8)
    world.group(minMember=3)
    world.pod("a")
    world.pod("b", gpus=0)
    world.pod("c")
    world.settle()
    if is_lost:
        world.delete(reservations.path("default", "ring"))
    world.advance(4.9)
    assert world.at(pod_path("b")) is None
    assert world.at(pod_path("c")) is not None, "the extender holds it"


def test_a_gang_that_was_undone_starts_again_as_a_whole(world: World) -> None:
    world.binds_refused.add("b")
    gang(world, "a", "b")
    world.advance(5)
    world.binds_refused.clear()
    world.pod("a")
    world.settle()
    assert set(world.bound()) == {"a", "b"}


def test_places_that_nobody_took_are_given_up_and_asked_for_anew(world: World) -> None:
    world.binds_refused.update({"a", "b"})
    gang(world, "a", "b")
    world.advance(PLACES_SECONDS + 0.5)
    world.binds_refused.clear()
    world.settle()
    assert len(world.questions) >= 2
    assert set(world.bound()) == {"a", "b"}


def test_a_reserved_member_that_is_deleted_gives_up_the_places_of_all(world: World) -> None:
    """G31: and it is forgotten."""
    world.binds_refused.update({"a", "b"})
    gang(world, "a", "b")
    world.delete(pod_path("b"))
    world.settle()
    assert world.places() is None
    assert world.condition()["message"] == "1/2 pods present"


def test_a_namesake_of_a_reserved_member_inherits_nothing(world: World) -> None:
    world.binds_refused.update({"a", "b"})
    gang(world, "a", "b")
    world.delete(pod_path("b"))
    world.pod("b")
    world.binds_refused.clear()
    world.settle()
    assert set(world.bound()) == {"a", "b"}
    assert len(world.questions) == 2


def test_members_that_finish_one_by_one_never_harm_the_others(world: World) -> None:
    """G16, G17, G42."""
    gang(world, "a", "b")
    world.phase("a", "Running")
    world.phase("b", "Running")
    world.phase("a", "Succeeded")
    world.advance(120)
    assert set(world.bound()) == {"a", "b"}
    assert world.condition()["status"] == "True"
    assert world.condition("Ready")["status"] == "True"
    world.phase("b", "Succeeded")
    world.settle()
    assert world.status()["phase"] == "Finished"


def test_a_failure_beyond_the_quorum_leaves_the_group_running(world: World) -> None:
    """G18, G42: and no reason speaks of a lack of resources."""
    gang(world, "a", "b", "c", room=3)
    for name in "abc":
        world.phase(name, "Running")
    world.phase("c", "Failed")
    world.advance(60)
    assert world.status()["phase"] == "Running"
    assert world.condition()["reason"] == "GangScheduled"
    assert len(world.bound()) == 3


def test_a_member_that_is_replaced_joins_alone_and_its_siblings_stay(world: World) -> None:
    """G19, G20."""
    gang(world, "a", "b")
    world.delete(pod_path("b"))
    world.settle()
    world.advance(60)
    assert set(world.bound()) == {"a"}
    world.pod("b2")
    world.settle()
    assert set(world.bound()) == {"a", "b2"}
    assert world.questions[-1].needed == 1


def test_late_members_join_as_far_as_they_fit(world: World) -> None:
    gang(world, "a", "b", room=3)
    world.pod("c")
    world.pod("d")
    world.settle()
    assert set(world.bound()) == {"a", "b", "c"}
    assert world.condition()["status"] == "True"
    assert 'pod "d" does not fit' in world.condition()["message"]


def test_a_group_with_more_members_than_it_needs_starts_with_those_that_fit(world: World) -> None:
    gang(world, "a", "b", "c", room=2)
    assert set(world.bound()) == {"a", "b"}


def test_a_group_that_lost_all_members_starts_as_a_whole_again(world: World) -> None:
    gang(world, "a", "b")
    world.delete(pod_path("a"))
    world.delete(pod_path("b"))
    world.pod("a2")
    world.settle()
    assert world.bound() == {}
    assert world.condition()["message"] == "1/2 pods present"
    world.pod("b2")
    world.settle()
    assert set(world.bound()) == {"a2", "b2"}


def test_members_that_failed_in_an_earlier_life_do_not_make_a_gang(world: World) -> None:
    gang(world, "a", "b")
    world.phase("a", "Failed")
    world.phase("b", "Failed")
    world.pod("a2")
    world.settle()
    assert "a2" not in world.bound()
    world.pod("b2")
    world.settle()
    assert {"a2", "b2"} <= set(world.bound())


@pytest.mark.parametrize("spec", [{}, {"minMember": 1}], ids=["absent", "one"])
def test_without_a_minimum_each_member_starts_alone(world: World, spec: JSON) -> None:
    """G33, G55: and an empty group has not finished."""
    world.node("node-1", gpus=1)
    world.group(**spec)
    world.settle()
    assert world.status()["phase"] == "Pending"
    world.pod("a")
    world.pod("b")
    world.settle()
    assert set(world.bound()) == {"a"}


@pytest.mark.parametrize("seconds", [None, 0, -5, 60])
def test_the_schedule_timeout_changes_nothing(world: World, seconds: int | None) -> None:
    """G56: a waiting gang holds nothing, so nothing need time out."""
    world.node("node-1", gpus=1)
    timeout: JSON = {} if seconds is None else {"scheduleTimeoutSeconds": seconds}
    world.group(minMember=2, **timeout)
    world.pod("a")
    world.pod("b")
    world.advance(100)
    assert world.condition()["reason"] == "GangUnplaceable"


def test_only_our_own_gate_is_removed_and_members_held_by_others_are_waited_for(world: World) -> None:
    """G47."""
    world.node("node-1", gpus=2)
    world.group(minMember=2)
    world.pod("a")
    world.pod("b", gates=("kueue.x-k8s.io/topology",))
    world.settle()
    assert world.condition()["message"] == "1/2 pods present; 1 more held by scheduling gates of others"
    assert world.gates("b") == ["kueue.x-k8s.io/topology", vocabulary.GANG_GATE]
    world.api.patch(pod_path("b"), {"spec": {"schedulingGates": [{"name": vocabulary.GANG_GATE}]}})
    world.settle()
    assert set(world.bound()) == {"a", "b"}


def test_groups_of_one_name_in_two_namespaces_are_two_groups(world: World) -> None:
    """G54."""
    world.node("node-1", gpus=4)
    for namespace in ("blue", "red"):
        world.group(namespace=namespace, minMember=2)
    world.pod("a", namespace="blue")
    world.pod("b", namespace="red")
    world.settle()
    assert world.bound() == {}
    assert world.condition(namespace="blue")["message"] == "1/2 pods present"


def test_a_client_that_rewrites_the_whole_group_changes_nothing(world: World) -> None:
    """G58: finalizers, annotations and labels of the group are nobody's memory."""
    gang(world, "a", "b", room=1)

    group = world.at(group_path())
    assert group is not None
    kept = {key: group["metadata"][key] for key in ("name", "namespace", "resourceVersion")}
    world.api.put(
        group_path(), {**group, "metadata": kept, "spec": {"minMember": 2, "scheduleTimeoutSeconds": 0}}
    )
    world.node("node-2", gpus=1)
    world.advance(1)
    assert set(world.bound()) == {"a", "b"}


def test_a_deleted_group_un_gates_nobody(world: World) -> None:
    gang(world, "a", "b", room=1)
    world.delete(group_path())
    world.node("node-2", gpus=1)
    world.advance(60)
    assert world.gates("a") == [vocabulary.GANG_GATE]
    assert world.bound() == {}


def test_the_reservation_of_a_namesake_before_it_is_dropped(world: World) -> None:
    world.binds_refused.update({"a", "b"})
    gang(world, "a", "b")
    world.delete(group_path())
    world.binds_refused.clear()
    world.group(minMember=2)
    world.advance(1)
    assert set(world.bound()) == {"a", "b"}
    assert world.places() is None


def test_members_that_are_bound_without_places_are_undone_too(world: World) -> None:
    """The Reservation was lost on the way: nothing else remembers that the other is missing."""
    world.binds_refused.add("b")
    gang(world, "a", "b")
    world.delete(reservations.path("default", "ring"))
    world.advance(4.9)
    assert world.bound() == {}


def test_while_the_extender_gives_no_verdict_people_can_read_why(world: World) -> None:
    world.answer = lambda request: Unready("the extender cannot be reached")
    gang(world, "a", "b")
    assert world.condition()["message"] == "2/2 pods present; no verdict yet: the extender cannot be reached"


def test_a_group_whose_wish_cannot_be_understood_waits_until_it_is_mended(world: World) -> None:
    world.group(minMember=1)
    world.api.patch(group_path(), {"metadata": {"annotations": {vocabulary.TOPOLOGY: "nvlink"}}})
    world.node("node-1", gpus=1)
    world.pod("a")
    world.settle()
    assert world.condition()["reason"] == "InvalidRequest"
    assert "use same-rack or same-block" in world.condition()["message"]
    world.api.patch(group_path(), {"metadata": {"annotations": {vocabulary.TOPOLOGY: "same-rack"}}})
    world.settle()
    assert set(world.bound()) == {"a"}
    assert world.questions[-1].nearness == Nearness(Domain.SAME_RACK)


def test_a_group_or_pods_without_sense_are_left_alone() -> None:
    assert reconcile(View(None), 0.0) == Decision()
    assert reconcile(View({"metadata": {}}), 0.0) == Decision()
    group: JSON = {
        "metadata": {"name": "ring", "namespace": "default", "uid": "u"},
        "spec": {"minMember": "two"},
    }
    odd: tuple[JSON, ...] = ({}, {"metadata": {"name": "a", "uid": "u1"}, "spec": None, "status": []})
    reservation: JSON = {
        "metadata": {"name": "ring", "namespace": "default", "uid": "r"},
        "spec": {"seats": 3},
    }
    assert [write.method for write in reconcile(View(group, odd, reservation), 0.0).writes] == ["DELETE"]
    assert reconcile(View(group, odd), 0.0).ask is not None


def nominated(world: World) -> set[str]:
    """The pods to which a node's room is promised."""
    pods = world.api.list(PATHS["pods"])
    return {pod["metadata"]["name"] for pod in pods if pod["status"].get("nominatedNodeName")}


def halt_before_the_gates_fall(world: World) -> None:
    """A gang of three, all nominated and none un-gated: the API server fails the writes that would."""
    world.api.fails = lambda write: write.method == "PATCH" and write.path in map(pod_path, "abc")
    gang(world, *"abc", minimum=3, room=3)
    assert nominated(world) == {"a", "b", "c"}
    assert all(world.gates(pod) for pod in "abc")


def test_a_gang_that_gives_up_its_places_leaves_no_room_promised(world: World) -> None:
    """A gated pod is never tried, so nobody but the operator would take its nomination back."""
    halt_before_the_gates_fall(world)
    world.delete(pod_path("c"))
    world.api.fails = lambda write: False
    world.advance(2)
    assert (world.bound(), nominated(world), world.places()) == ({}, set(), None)
    world.pod("c")
    world.settle()
    assert len(world.bound()) == 3


@pytest.mark.parametrize("restarts", [False, True])
def test_a_gang_whose_group_is_deleted_leaves_no_room_promised(world: World, restarts: bool) -> None:
    halt_before_the_gates_fall(world)
    if restarts:
        world.restart()
    world.delete(group_path())
    world.delete(reservations.path("default", "ring"))
    world.advance(2)
    assert (world.bound(), nominated(world)) == ({}, set())


@pytest.mark.parametrize(("raised", "bound"), [(3, 3), (4, 0)])
def test_a_gang_of_which_more_are_needed_before_any_is_bound_is_planned_anew(
    world: World, raised: int, bound: int
) -> None:
    world.binds_refused.update("abc")
    gang(world, *"abc", room=3)
    assert world.places() is not None
    world.api.patch(group_path(), {"spec": {"minMember": raised}})
    world.settle()
    world.binds_refused.clear()
    world.advance(2)
    assert len(world.bound()) == bound
