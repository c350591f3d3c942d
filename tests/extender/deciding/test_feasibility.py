"""The rule of seats on top of the domain's fit."""

from gpuyard import vocabulary
from gpuyard.groups.reservations import Seat
from gpuyard.placing.cluster import Node, Placement
from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender.deciding import feasibility
from gpuyard_extender.ledger import nodes, pods
from gpuyard_extender.ledger.claims import Claim, Tenants
from gpuyard_extender.ledger.pods import Pod
from tests.extender.builders import device, gpu_node, gpu_pod


def member(**more: object) -> Pod:
    pod = pods.read(gpu_pod("a", group="g", **more))  # type: ignore[arg-type]
    assert pod is not None
    return pod


def node(taken: str = "", sick: tuple[int, ...] = ()) -> Node:
    facts = nodes.read(gpu_node("node-1", 2, sick=sick))
    assert facts is not None
    claim = Claim("node-1", {}, frozenset({taken} if taken else ()), frozenset())
    return nodes.build(facts, Tenants({"uid-other": claim}))


SEAT = Seat("uid-a", "a", "node-1", {"train": {vocabulary.GPU: (device("node-1", 1),)}})


def reason(verdict: Placement | Rejection) -> Reason | None:
    return verdict.reason if isinstance(verdict, Rejection) else None


def test_a_seated_member_gets_the_devices_of_its_seat_not_the_first_free_ones() -> None:
    verdict = feasibility.judge(member(), node(), SEAT)
    assert isinstance(verdict, Placement)
    assert verdict.allocation == SEAT.allocation


def test_a_seat_whose_devices_are_taken_or_sick_is_worth_nothing() -> None:
    assert (
        reason(feasibility.judge(member(), node(taken=device("node-1", 1)), SEAT)) is Reason.INSUFFICIENT_GPUS
    )
    assert reason(feasibility.judge(member(), node(sick=(1,)), SEAT)) is Reason.GPU_UNHEALTHY
    assert reason(feasibility.judge(member(), node(taken=device("node-1", 0)), SEAT)) is None


def test_a_member_goes_nowhere_but_to_its_seat() -> None:
    elsewhere = Seat("uid-a", "a", "node-2", {})
    assert reason(feasibility.judge(member(), node(), elsewhere)) is Reason.RESERVATION_MISSING
    assert reason(feasibility.judge(member(), node(), None)) is Reason.RESERVATION_MISSING


def test_members_without_gpus_and_pods_without_a_group_need_no_seat() -> None:
    assert reason(feasibility.judge(member(gpus=0), node(), None)) is None
    assert not feasibility.needs_seat(pods.read(gpu_pod("b")))  # type: ignore[arg-type]
