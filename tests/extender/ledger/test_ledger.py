"""What the ledger believes after events in any order, late, twice, or never."""

from collections.abc import Mapping

from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.placing.cluster import Node, Placement
from gpuyard.writes import JSON
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from tests.extender.builders import device, gpu_node, gpu_pod, reservation

FIRST, SECOND = device("node-1", 0), device("node-1", 1)


def filled(*pods: JSON, nodes: int = 1, **more: list[JSON]) -> Ledger:
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node(f"node-{i}") for i in range(1, nodes + 1)])
    ledger.replace("pods", pods)
    for resource, objects in more.items():
        ledger.replace(resource, objects)
    return ledger


def node(ledger: Ledger, name: str = "node-1", now: float = 0.0) -> Node:
    return ledger.cluster(now).nodes[name]


def owners(ledger: Ledger, now: float = 0.0) -> Mapping[str, str]:
    return node(ledger, now=now).owners


def test_the_kubelets_word_beats_the_plan() -> None:
    ledger = filled(gpu_pod("a", node="node-1", plan=[FIRST], truth=[SECOND], phase="Running"))
    assert owners(ledger) == {SECOND: "uid-a"}


def test_a_device_belongs_to_the_pod_that_has_it_not_to_the_one_it_was_promised() -> None:
    ledger = filled(
        gpu_pod("a", node="node-1", plan=[FIRST], phase="Pending"),
        gpu_pod("b", node="node-1", truth=[FIRST], phase="Running"),
    )
    assert owners(ledger) == {FIRST: "uid-b"}
    assert node(ledger).contested == {FIRST: ("uid-a",)}


def test_a_malformed_plan_is_ignored() -> None:
    pod = gpu_pod("a", node="node-1", plan=[FIRST])
    pod["metadata"]["annotations"] = dict.fromkeys(pod["metadata"]["annotations"], '{"v":1,"containers":7}')
    assert owners(filled(pod)) == {}


def test_what_cannot_be_read_is_reported_once() -> None:
    reports: list[str] = []
    ledger = Ledger(reports.append)
    broken = gpu_node("node-2")
    broken["metadata"]["annotations"] = dict.fromkeys(broken["metadata"]["annotations"], "{}")
    ledger.replace("nodes", [gpu_node("node-1"), broken])
    for _ in range(2):
        ledger.observe("pods", "MODIFIED", gpu_pod("stray", node="node-1"))
        ledger.observe("pods", "MODIFIED", gpu_pod("counted", node="node-2"))
        ledger.replace("nodes", [gpu_node("node-1"), broken])
    assert [text.split(" ")[0] for text in reports] == ["node-2", "stray"]


def test_an_ended_pod_holds_nothing_and_a_terminating_one_holds_on() -> None:
    ledger = filled(
        gpu_pod("done", node="node-1", truth=[FIRST], phase="Succeeded"),
        gpu_pod("going", node="node-1", truth=[SECOND], phase="Running", terminating=True),
    )
    assert owners(ledger) == {SECOND: "uid-going"}
    ledger.observe("pods", "DELETED", gpu_pod("going"))
    assert owners(ledger) == {}


def test_cpu_is_counted_for_pods_without_gpus_too() -> None:
    ledger = filled(gpu_pod("web", 0, cpu="3", node="node-1"), gpu_pod("train", 1, cpu="500m", node="node-1"))
    assert node(ledger).used == {"cpu": 3500, "pods": 2, "nvidia.com/gpu": 1}


def test_pods_that_are_seen_before_their_node_are_counted_when_it_comes() -> None:
    ledger = Ledger()
    ledger.replace("pods", [gpu_pod("a", node="node-1", truth=[FIRST])])
    assert ledger.cluster(0).nodes == {}
    ledger.observe("nodes", "ADDED", gpu_node("node-1"))
    assert owners(ledger) == {FIRST: "uid-a"}
    ledger.observe("nodes", "DELETED", gpu_node("node-1"))
    ledger.observe("nodes", "ADDED", gpu_node("node-1", uid="uid-of-the-new-one"))
    assert owners(ledger) == {FIRST: "uid-a"}


def test_a_new_pod_of_the_same_name_takes_the_place_of_the_old_one() -> None:
    old = gpu_pod("a", uid="old", node="node-1", truth=[FIRST])
    ledger = filled(old)
    ledger.observe("pods", "ADDED", gpu_pod("a", uid="new", node="node-1", truth=[SECOND]))
    assert owners(ledger) == {SECOND: "new"}
    ledger.observe("pods", "DELETED", old)
    ledger.observe("pods", "MODIFIED", old)
    assert owners(ledger) == {SECOND: "new"}


def test_late_news_of_a_pod_changes_nothing() -> None:
    unbound = gpu_pod("a")
    bound = gpu_pod("a", node="node-1", truth=[FIRST])
    ledger = filled(bound)
    ledger.observe("pods", "MODIFIED", unbound)
    assert owners(ledger) == {FIRST: "uid-a"}


def test_an_assumption_ends_when_the_pod_is_seen_bound_or_gone_or_when_its_time_is_up() -> None:
    placement = Placement("uid-a", "node-1", {"train": {"nvidia.com/gpu": (FIRST,)}}, {"cpu": 1000})
    seen, gone, expired = (filled(gpu_pod("a")) for _ in range(3))
    for ledger in (seen, gone, expired):
        ledger.assume(placement, Grade.SENT, 0.0)
        assert owners(ledger) == {FIRST: "uid-a"}
        assert node(ledger).used == {"cpu": 1000}
    seen.observe("pods", "MODIFIED", gpu_pod("a", node="node-1", truth=[SECOND]))
    assert owners(seen) == {SECOND: "uid-a"}
    gone.observe("pods", "DELETED", gpu_pod("a"))
    gone.assume(placement, Grade.TENTATIVE, 0.0)
    assert owners(gone) == {}
    assert owners(expired, now=59.9) == {FIRST: "uid-a"}
    assert owners(expired, now=60.0) == {}


def test_a_renewed_assumption_lives_from_its_renewal() -> None:
    placement = Placement("uid-a", "node-1", {"train": {"nvidia.com/gpu": (FIRST,)}}, {})
    ledger = filled(gpu_pod("a"))
    ledger.assume(placement, Grade.TENTATIVE, 0.0)
    ledger.assume(placement, Grade.TENTATIVE, 4.0)
    assert owners(ledger, now=6.0) == {FIRST: "uid-a"}
    assert owners(ledger, now=9.0) == {}


def test_a_reservation_holds_devices_and_cpu_of_unbound_seats_until_it_expires() -> None:
    held = reservation("g", {"m0": ("node-1", [FIRST]), "m1": ("node-1", [SECOND])}, expires=1060.0, needed=2)
    ledger = filled(
        gpu_pod("m0", cpu="2", group="g"),
        gpu_pod("m1", cpu="2", group="g", node="node-1", truth=[SECOND]),
        reservations=[held],
    )
    assert owners(ledger, now=1000.0) == {FIRST: "uid-m0", SECOND: "uid-m1"}
    assert node(ledger, now=1000.0).used["cpu"] == 4000
    assert owners(ledger, now=1060.0) == {SECOND: "uid-m1"}


def test_a_promise_holds_until_its_record_is_seen_and_then_the_record_counts() -> None:
    ledger = filled(gpu_pod("m0", group="g"))
    seat = Seat("uid-m0", "m0", "node-1", {"train": {"nvidia.com/gpu": (FIRST,)}})
    ledger.promise(Reservation("default", "g", 1, 60.0, (seat,)))
    assert owners(ledger) == {FIRST: "uid-m0"}
    older = reservation("g", {"m0": ("node-1", [SECOND])}, expires=30.0, needed=1)
    ledger.observe("reservations", "MODIFIED", older)
    assert owners(ledger) == {FIRST: "uid-m0"}
    record = reservation("g", {"m0": ("node-1", [FIRST])}, expires=60.0, needed=1)
    ledger.observe("reservations", "MODIFIED", record)
    assert ledger.promised("default", "g", 0.0) is None
    assert owners(ledger) == {FIRST: "uid-m0"}
    ledger.observe("reservations", "DELETED", record)
    assert owners(ledger) == {}


def test_a_malformed_reservation_holds_nothing() -> None:
    broken = reservation("g", {"m0": ("node-1", [FIRST])}, expires=60.0, needed=1)
    broken["spec"]["seats"] = [{"uid": 1}]
    assert owners(filled(gpu_pod("m0", group="g"), reservations=[broken])) == {}


def test_the_pods_asked_about_are_left_out_of_the_cluster() -> None:
    ledger = filled(gpu_pod("a", node="node-1", truth=[FIRST]), gpu_pod("b", node="node-1", truth=[SECOND]))
    assert ledger.cluster(0.0, {"uid-a"}).nodes["node-1"].owners == {SECOND: "uid-b"}
    assert len(owners(ledger)) == 2


def test_objects_without_the_least_that_is_needed_are_ignored() -> None:
    ledger = filled()
    for resource in ("pods", "nodes", "reservations", "podgroups"):
        ledger.observe(resource, "ADDED", {"metadata": {"name": "x", "uid": "x"}, "spec": None})
        ledger.observe(resource, "ADDED", {})
    assert owners(ledger) == {}
