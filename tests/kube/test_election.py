"""Leadership: one candidate at a time, and a dead leader is followed by another."""

from typing import Any

import pytest

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_kube.election import Candidate, Sight, decide, keep, lead, leads, release
from tests.stepping import settle


class OneLease:
    """An API server that holds one Lease, with optimistic locking."""

    def __init__(self) -> None:
        self.lease: JSON | None = None
        self.down = False

    async def read(self, path: str, **query: str) -> Reply:
        if self.down:
            return Reply(503, {"message": "down"})
        return Reply(404, {}) if self.lease is None else Reply(200, self.lease)

    async def send(self, write: Write) -> Reply:
        assert isinstance(write.body, dict)
        if self.down:
            return Reply(503, {"message": "down"})
        version = (self.lease or {}).get("metadata", {}).get("resourceVersion")
        if write.body["metadata"].get("resourceVersion") != version:
            return Reply(409, {"message": "the object has been modified"})
        metadata = {**write.body["metadata"], "resourceVersion": str(int(version or 0) + 1)}
        self.lease = {**write.body, "metadata": metadata}
        return Reply(200, self.lease)


def candidate(identity: str) -> Candidate:
    return Candidate("gpuyard-system", "operator", identity)


class SetClock(Steps):
    """Its time of day can be set, `by` so many seconds."""

    by = 0.0

    def now(self) -> float:
        return super().now() + self.by

    async def sleep_until(self, when: float) -> None:
        await super().sleep_until(when - self.by)


def elect(clock: Steps, api: OneLease, who: Candidate, log: list[str]) -> None:
    async def life() -> None:
        lease = await lead(api, clock, who)
        log.append(f"{who.identity} leads")
        await keep(api, clock, who, lease)
        log.append(f"{who.identity} has lost")

    clock.spawn(life(), who.identity)


def test_of_two_candidates_one_leads_for_as_long_as_it_lives() -> None:
    clock, api, log = Steps(), OneLease(), list[str]()
    elect(clock, api, candidate("a"), log)
    elect(clock, api, candidate("b"), log)
    settle(clock, clock.now() + 600)
    assert log == ["a leads"]


def test_a_dead_leader_is_followed_after_its_lease_has_run_out() -> None:
    clock, api, log = Steps(), OneLease(), list[str]()
    api.lease = {
        "metadata": {"resourceVersion": "7"},
        "spec": {"holderIdentity": "dead", "leaseDurationSeconds": 15, "renewTime": "1999-01-01T00:00:00Z"},
    }
    elect(clock, api, candidate("b"), log)
    settle(clock, clock.now() + 14)
    assert log == [], (
        "a foreign clock in the Lease is not believed: its life counts from when it was first seen"
    )
    settle(clock, clock.now() + 4)
    assert log == ["b leads"]


def test_a_leader_that_cannot_renew_steps_down_before_another_may_lead() -> None:
    clock, api, log = Steps(), OneLease(), list[str]()
    elect(clock, api, candidate("a"), log)
    settle(clock, clock.now() + 1)
    api.down = True
    settle(clock, clock.now() + 14)
    assert log == ["a leads", "a has lost"]


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_it_does_so_in_time_whatever_its_clock_is_set_to(step: float) -> None:
    clock, api, log = SetClock(), OneLease(), list[str]()
    elect(clock, api, candidate("a"), log)
    settle(clock, clock.steady() + 1)
    clock.by = step
    settle(clock, clock.steady() + 30)
    assert log == ["a leads"], "it goes on while it can renew"
    api.down = True
    settle(clock, clock.steady() + 14)
    assert log == ["a leads", "a has lost"]


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_nobody_follows_before_a_lease_has_run_out_whatever_the_clock_is_set_to(step: float) -> None:
    clock, api, log = SetClock(), OneLease(), list[str]()
    api.lease = clock.complete(lead(api, clock, candidate("dead")))
    elect(clock, api, candidate("b"), log)
    settle(clock, clock.steady() + 1)
    clock.by = step
    settle(clock, clock.steady() + 13)
    assert log == []
    settle(clock, clock.steady() + 4)
    assert log == ["b leads"]


def test_what_it_waits_for_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    clock, api, log = Steps(), OneLease(), list[str]()
    api.down = True
    elect(clock, api, candidate("a"), log)
    settle(clock, clock.now() + 5)
    api.down = False
    settle(clock, clock.now() + 2)
    elect(clock, api, candidate("b"), log)
    settle(clock, clock.now() + 10)
    assert log == ["a leads"]
    assert caplog.messages == [
        "waiting for the Lease gpuyard-system/operator: down",
        "waiting for the Lease gpuyard-system/operator: a holds it",
    ]


def test_a_released_lease_is_taken_at_once() -> None:
    clock, api = Steps(), OneLease()
    api.lease = clock.complete(lead(api, clock, candidate("a")))
    assert api.lease is not None
    assert leads(candidate("a"), api.lease)
    clock.complete(api.send(release(candidate("a"), api.lease)))
    write = decide(candidate("b"), Sight(api.lease, clock.steady()), clock.now(), clock.steady())
    assert write is not None
    assert write.body is not None
    assert clock.complete(api.send(write)).body["spec"]["holderIdentity"] == "b"


@pytest.mark.parametrize("spec", [{}, {"holderIdentity": None}, {"holderIdentity": ""}])
def test_a_lease_that_nobody_holds_is_taken(spec: dict[str, Any]) -> None:
    write = decide(candidate("a"), Sight({"metadata": {}, "spec": spec}, 0.0), 1.0, 1.0)
    assert write is not None
    assert write.method == "PUT"
