"""Room at the expense of others: recorded first, evicted through the Eviction API, and nobody for nothing."""

from collections.abc import Callable

import pytest

from gpuyard.groups import reservations
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable
from gpuyard.groups.reservations import Reservation, Seat, Victim
from gpuyard.pods import memberships
from gpuyard_operator.cache import PATHS
from tests.gang_operator.world import PLACES_SECONDS, World, gpus_of, pod_path

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
Answer = Callable[[PlanRequest], PlanAnswer]


def at_the_expense_of(world: World, *names: str) -> Answer:
    """The planner by counts, which when asked for it gives the members the nodes of these pods."""
    by_counts = world.answer

    def answer(request: PlanRequest) -> PlanAnswer:
        found = by_counts(request) if request.group != alone(world) else None
        if not request.preempt or not (found is None or isinstance(found, Unplaceable)):
            assert found is not None
            return found
        pods = {pod["metadata"]["name"]: pod for pod in world.api.list(PATHS["pods"])}
        going = [pods[name] for name in names if name in pods]
        if not going:
            return Unplaceable("", ())
        victims = [
            Victim(pod["metadata"]["uid"], "default", name, memberships.claimed(pod) or "")
            for name, pod in zip(names, going, strict=True)
        ]
        called = {pod["metadata"]["uid"]: name for name, pod in pods.items()}
        nodes = [pod["spec"]["nodeName"] for pod in going for _ in range(gpus_of(pod))]
        seats = [Seat(uid, called[uid], node, {}) for uid, node in zip(request.members, nodes, strict=False)]
        until = world.clock.now() + PLACES_SECONDS
        return Planned(
            Reservation("default", request.group, request.needed, until, tuple(seats), tuple(victims))
        )

    return answer


def alone(world: World) -> str:
    """The name under which places are held for the pod `vip`."""
    pod = world.at(pod_path("vip"))
    return memberships.alone(pod["metadata"]["uid"]) if pod else ""


def full(*, preempts: bool = True, urgent: bool = True, conditions: bool = True) -> World:
    """Two nodes, held by the gang `ring` of two pods, and an urgent gang that waits."""
    world = World(preempts=preempts)
    world.keep_conditions(conditions)
    world.api.create(CLASSES, {"metadata": {"name": "urgent"}, "value": 1000})
    for number in (1, 2):
        world.node(f"node-{number}", gpus=1)
    world.group(minMember=2)
    for name in ("a", "b"):
        world.pod(name)
    world.settle()
    world.answer = at_the_expense_of(world, "a", "b")
    world.api.writes.clear()
    world.group("urgent", minMember=2)
    for name in ("u0", "u1"):
        world.pod(name, group="urgent", priorityClassName="urgent" if urgent else None)
    return world


def paths(world: World) -> list[str]:
    """What was written but status of groups and events, in order."""
    found = [
        f"{write.method} {write.path.removeprefix('/api/v1/namespaces/default/')}"
        for write in world.api.writes
    ]
    return [path for path in found if "podgroups" not in path and "events" not in path]


def stuck(world: World, priority: str = "urgent", scheduler: str | None = None, **status: object) -> None:
    """An urgent pod without a group, for which kube-scheduler has found no node."""
    world.pod("vip", group="", priorityClassName=priority, schedulerName=scheduler)
    failed = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    world.api.patch(f"{pod_path('vip')}/status", {"status": {"conditions": [failed], **status}})


def test_what_was_decided_is_recorded_before_anybody_goes_and_gates_fall_after_that() -> None:
    world = full()
    world.settle()
    recorded = f"POST {reservations.path('default')}"
    assert paths(world) == [
        recorded,
        "PATCH pods/u0/status", "PATCH pods/u1/status",
        "POST pods/a/eviction", "POST pods/b/eviction",
        "PATCH pods/u0", "PATCH pods/u1",
        f"DELETE {reservations.path('default', 'urgent')}",
    ]  # fmt: skip
    assert world.bound() == {"u0": "node-1", "u1": "node-2"}


def test_everybody_is_told_why() -> None:
    world = full()
    world.settle()
    told = {
        (found["involvedObject"]["name"], found["reason"], found["message"])
        for found in world.api.list("/api/v1/events")
        if "Preempt" in found["reason"]
    }
    assert told == {
        ("a", "Preempted", "Preempted by pod group default/urgent"),
        ("b", "Preempted", "Preempted by pod group default/urgent"),
        ("urgent", "GangPreempting", "pods of lower priority have to go first: default/a, default/b"),
    }
    went = world.condition("Preempted")
    assert (went["status"], went["message"]) == ("True", "its pods make way for pod group default/urgent")
    for name in ("u0", "u1"):
        world.delete(pod_path(name))
    for name in ("a", "b"):
        world.pod(name)
    world.settle()
    assert world.condition("Preempted")["status"] == "False"


def test_the_preemptor_says_whom_it_waits_for() -> None:
    world = full()
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.settle()
    verdict = world.condition(name="urgent")
    assert verdict["reason"] == "GangPreempting"
    assert verdict["message"] == "pods of lower priority have to go first: default/a, default/b"


def test_a_budget_that_refuses_is_asked_again_until_the_places_expire() -> None:
    world = full()
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.advance(3)
    assert world.places("urgent") is not None
    assert world.gates("u0") != []
    world.api.fails = lambda _: False
    world.advance(1)
    assert world.bound() == {"u0": "node-1", "u1": "node-2"}


def test_places_that_nobody_leaves_in_time_are_given_up() -> None:
    world = full()
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.answer = at_the_expense_of(world, "a", "b")
    world.settle()
    world.answer = lambda _: Unplaceable("u1", ())
    world.advance(PLACES_SECONDS)
    assert world.places("urgent") is None
    assert world.bound() == {"a": "node-1", "b": "node-2"}
    assert world.condition(name="urgent")["reason"] == "GangUnplaceable"


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("conditions", [True, False])
def test_nobody_goes_twice_for_a_gang_that_is_not_bound_all_the_same(
    conditions: bool, restarts: bool
) -> None:
    """G12: they would be made anew, and evicted again, for ever."""
    world = full(conditions=conditions)
    world.binds_refused.update(("u0", "u1"))
    world.advance(PLACES_SECONDS + 1)
    if restarts:
        world.restart()
    assert world.condition("Preempting", "urgent")["reason"] == "InVain"
    record = world.at(reservations.path("default", "urgent"))
    assert conditions or (record is not None and "victims" not in record["spec"])
    for name in ("c", "d"):
        world.pod(name, group="")
        world.bind(name, "node-1" if name == "c" else "node-2")
    world.answer = at_the_expense_of(world, "c", "d")
    world.advance(100)
    assert {"c", "d"} <= world.bound().keys()
    for name in ("c", "d"):
        world.delete(pod_path(name))
    world.binds_refused.clear()
    world.advance(40)
    assert world.bound() == {"u0": "node-1", "u1": "node-2"}
    assert world.condition("Preempting", "urgent")["reason"] == "GangScheduled"


def test_nobody_goes_twice_either_where_another_victim_stays() -> None:
    world = full()
    world.api.fails = lambda write: write.path == f"{pod_path('b')}/eviction"
    world.advance(PLACES_SECONDS + 1)
    assert world.condition("Preempting", "urgent")["reason"] == "InVain"
    assert world.bound() == {"b": "node-2"}


def test_nobody_goes_twice_for_a_pod_alone_either() -> None:
    world = full()
    world.delete("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/urgent")
    stuck(world)
    world.binds_refused.add("vip")
    world.answer = at_the_expense_of(world, "a")
    world.settle()
    world.answer = at_the_expense_of(world, "b")
    world.advance(3 * PLACES_SECONDS)
    assert world.bound().keys() == {"b"}
    assert world.places(alone(world)) is not None, "as a reminder"
    world.delete(pod_path("vip"))
    world.settle()
    assert world.api.list(PATHS["reservations"]) == []


@pytest.mark.parametrize("case", ["off", "equal"])
def test_nobody_is_even_asked_for_where_nobody_may_go(case: str) -> None:
    world = full(preempts=case != "off", urgent=case != "equal")
    world.settle()
    assert not any(request.preempt for request in world.questions)
    assert world.bound() == {"a": "node-1", "b": "node-2"}


def test_what_was_recorded_is_given_up_where_nobody_is_to_be_evicted_any_more() -> None:
    world = full()
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.settle()
    world.preempts = False
    world.restart()
    world.settle()
    assert world.places("urgent") is None
    assert world.gates("u0") != []


@pytest.mark.parametrize("writes", range(1, 14))
def test_an_operator_that_dies_in_between_goes_on_and_evicts_nobody_else(writes: int) -> None:
    """Whatever it hears of first."""
    world = full()
    first = writes % len(world.arrival)
    world.arrival = world.arrival[first:] + world.arrival[:first]
    while len(world.api.writes) < writes and (world.deliver() or world.clock.step() is not None):
        pass
    world.restart()
    world.advance(10)
    assert world.bound() == {"u0": "node-1", "u1": "node-2"}
    evicted = {path for path in paths(world) if path.endswith("/eviction")}
    assert evicted == {"POST pods/a/eviction", "POST pods/b/eviction"}


def test_members_that_go_themselves_leave_the_others_in_peace() -> None:
    world = full()
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.settle()
    world.delete(pod_path("u1"))
    world.api.fails = lambda _: False
    world.advance(5)
    assert world.places("urgent") is None
    assert world.bound() == {"a": "node-1", "b": "node-2"}


def test_a_pod_alone_gets_a_place_once_kube_scheduler_has_found_none() -> None:
    world = full()
    world.delete("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/urgent")
    world.settle()
    stuck(world)
    world.answer = at_the_expense_of(world, "a")
    world.settle()
    assert world.bound() == {"b": "node-2", "vip": "node-1"}
    assert world.api.list(PATHS["reservations"]) == []
    assert "Preempted by pod default/vip" in [found["message"] for found in world.api.list("/api/v1/events")]


@pytest.mark.parametrize("why", ["untried", "nominated", "never", "volcano"])
def test_a_pod_alone_that_kube_scheduler_sees_to_is_left_to_it(why: str) -> None:
    world = World()
    world.api.create(CLASSES, {"metadata": {"name": "urgent"}, "value": 1000})
    world.node("node-1", gpus=1)
    world.pod("a", group="")
    world.bind("a", "node-1")
    if why == "untried":
        world.pod("vip", group="", priorityClassName="urgent")
    elif why == "nominated":
        stuck(world, nominatedNodeName="node-1")
    elif why == "volcano":
        stuck(world, scheduler="volcano")
    else:
        world.api.create(
            CLASSES, {"metadata": {"name": "patient"}, "value": 1000, "preemptionPolicy": "Never"}
        )
        stuck(world, "patient")
    world.settle()
    assert world.questions == []
