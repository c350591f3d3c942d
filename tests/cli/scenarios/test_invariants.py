"""What must never be seen is found when it is there."""

from typing import Any

from gpuyard_cli.scenarios.invariants import Watchman
from gpuyard_cli.scenarios.observation import Snapshot


def pod(
    name: str, *, ids: tuple[str, ...] = (), phase: str = "Running", group: str = "", node: str = "n"
) -> Any:
    held = [{"name": "nvidia.com/gpu", "resources": [{"resourceID": found} for found in ids]}]
    return {
        "metadata": {"name": name, "namespace": "a", "labels": {"scheduling.x-k8s.io/pod-group": group}},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, "containerStatuses": [{"name": "main", "allocatedResourcesStatus": held}]},
    }


def snapshot(*pods: Any) -> Snapshot:
    gang = {"metadata": {"name": "gang"}, "spec": {"minMember": 2}}
    return Snapshot((), tuple(pods), (gang,), ())


def test_two_live_owners_of_one_device_are_found() -> None:
    seen = snapshot(pod("a", ids=("GPU-1",)), pod("b", ids=("GPU-1", "GPU-2")))
    assert Watchman().look(seen, 0.0) == ("device GPU-1 has several owners: a/main, b/main",)


def test_an_ended_pod_owns_nothing() -> None:
    assert (
        Watchman().look(snapshot(pod("a", ids=("GPU-1",)), pod("b", ids=("GPU-1",), phase="Succeeded")), 0.0)
        == ()
    )


def test_a_gang_may_be_half_placed_for_five_seconds_and_no_longer() -> None:
    watchman, half = Watchman(), snapshot(pod("a", group="gang"), pod("b", group="gang", node=""))
    assert watchman.look(half, 100.0) == ()
    assert watchman.look(half, 105.0) == ()
    assert watchman.look(half, 105.5) == ("podgroup gang has been bound in part for 5.5 s",)


def test_the_time_starts_anew_when_the_gang_was_whole_in_between() -> None:
    watchman, half = Watchman(), snapshot(pod("a", group="gang"), pod("b", group="gang", node=""))
    watchman.look(half, 100.0)
    watchman.look(snapshot(pod("a", group="gang"), pod("b", group="gang")), 104.0)
    assert watchman.look(half, 107.0) == ()


def test_a_gang_that_has_started_may_lose_members_until_it_has_lost_all() -> None:
    watchman = Watchman()
    first, second, lone = pod("a", group="gang"), pod("b", group="gang"), pod("c", group="gang")
    watchman.look(snapshot(first, second), 100.0)
    assert watchman.look(snapshot(first), 110.0) == ()
    assert watchman.look(snapshot(first), 120.0) == ()
    watchman.look(snapshot(), 130.0)
    assert watchman.look(snapshot(lone), 140.0) == ()
    assert watchman.look(snapshot(lone), 146.0) == ("podgroup gang has been bound in part for 6.0 s",)


def test_a_member_that_ended_or_is_leaving_holds_no_place() -> None:
    leaving = pod("a", group="gang")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    for lone in (leaving, pod("a", group="gang", phase="Succeeded"), pod("a", group="gang", phase="Failed")):
        watchman = Watchman()
        watchman.look(snapshot(lone), 100.0)
        assert watchman.look(snapshot(lone), 110.0) == ()


def test_members_that_fail_at_once_were_placed_all_the_same() -> None:
    watchman, seen = Watchman(), snapshot(pod("a", group="gang"), pod("b", group="gang", phase="Failed"))
    watchman.look(seen, 100.0)
    assert watchman.look(seen, 110.0) == ()
