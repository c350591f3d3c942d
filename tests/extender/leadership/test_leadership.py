"""One active extender: it alone writes and stands behind the Service, and another follows it without a gap."""

from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_extender.leadership.endpoints import Address, leads_to
from gpuyard_extender.leadership.leadership import (
    DRAIN_SECONDS,
    HAND_BACK_SECONDS,
    LAST_WRITES_SECONDS,
    LEASE_SECONDS,
    RESOURCES,
    SETTLE_SECONDS,
    Leadership,
)
from tests.stepping import settle

FIRST, SECOND, LAPTOP = Address("10.0.0.1", 8081), Address("10.0.0.2", 8081), Address("172.18.0.1", 9000)


class SmallApi:
    """One Lease and one EndpointSlice with optimistic locking; tells each change to those who watch."""

    def __init__(self, clock: Steps) -> None:
        self.objects: dict[str, JSON] = {}
        self.watchers: list[Leadership] = []
        self.down, self.slow, self.travel = False, 0.0, 0.0
        self.begun: list[Write] = []
        self.unheard = 0
        """So many releases are carried out, and answered as if they were not."""
        self.failing_after = 0
        """So many reads fail after such a release."""
        self.failing: Counter[str] = Counter()
        """So many of the next requests with this method are answered 500."""
        self._clock, self._version = clock, 0

    async def read(self, path: str, **query: str) -> Reply:
        await self._wait(self.slow + self.travel)
        if self._fails("GET"):
            return Reply(503, {"message": "down"})
        found = self.objects.get(_resource(path))
        return Reply(404, {}) if found is None else Reply(200, found)

    async def send(self, write: Write) -> Reply:
        self.begun.append(write)
        await self._wait(self.slow + self.travel)
        reply = self._carry_out(write)
        await self._wait(self.travel)
        released = isinstance(write.body, dict) and (write.body.get("spec") or {}).get("holderIdentity") == ""
        if released and self.unheard:
            self.unheard -= 1
            self.failing["GET"] = self.failing_after
            return Reply(503, {"message": "the answer was lost"})
        return reply

    def _carry_out(self, write: Write) -> Reply:
        if write.path == "/pods":
            return Reply(200, {})
        resource = _resource(write.path)
        found = self.objects.get(resource)
        if self._fails(write.method):
            return Reply(503, {"message": "down"})
        if write.method == "DELETE":
            self._tell(resource, "DELETED", self.objects.pop(resource))
            return Reply(200, {})
        assert isinstance(write.body, dict)
        if (found is None) != (write.method == "POST"):
            return Reply(404 if found is None else 409, {"message": write.method})
        if found and write.body["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"]:
            return Reply(409, {"message": "the object has been modified"})
        self._version += 1
        metadata = {**write.body["metadata"], "resourceVersion": str(self._version)}
        self.objects[resource] = {**write.body, "metadata": metadata}
        self._tell(resource, "MODIFIED" if found else "ADDED", self.objects[resource])
        return Reply(200, self.objects[resource])

    def _fails(self, method: str) -> bool:
        failing = self.failing[method] > 0
        self.failing[method] -= failing
        return failing or self.down

    async def _wait(self, seconds: float) -> None:
        if seconds:
            await self._clock.sleep_until(self._clock.now() + seconds)

    def _tell(self, resource: str, event: str, obj: JSON) -> None:
        def tell() -> None:
            for watcher in self.watchers:
                watcher.observe(resource, event, obj)

        self._clock.call_at(self._clock.now(), f"{resource} {event}", tell)


async def nothing(_until: float) -> None:
    """There is nothing to drain."""


def _resource(path: str) -> str:
    return "leases" if "/leases" in path else "endpointslices"


class Cluster:
    """Extenders on a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = Steps()
        self.api = SmallApi(self.clock)
        self.began = self.clock.now()

    def start(self, address: Address, *, takes_over: bool = False) -> Leadership:
        found = Leadership(self.api, self.clock, f"at-{address.ip}", address, takes_over=takes_over)
        for resource in RESOURCES:
            found.replace(resource, [o for r, o in self.api.objects.items() if r == resource])
        self.api.watchers.append(found)
        self.clock.spawn(found.run(lambda: None), str(address))
        return found

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.clock.spawn(work, "work")

    def run(self, seconds: float) -> None:
        settle(self.clock, self.clock.now() + seconds)

    def seconds_until_leads(self, who: Leadership) -> float:
        began = self.clock.now()
        while not who.leading and self.clock.now() < began + 20:
            self.run(0.05)
        return self.clock.now() - began

    @property
    def service(self) -> list[tuple[str, int]]:
        return leads_to(self.api.objects.get("endpointslices", {}))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_the_first_leads_and_the_service_leads_to_it_while_the_second_knows_where_it_is(
    cluster: Cluster,
) -> None:
    first = cluster.start(FIRST)
    cluster.run(0.1)
    second = cluster.start(SECOND)
    cluster.run(60)
    assert (first.leading, second.leading) == (True, False)
    assert (first.elsewhere, second.elsewhere) == ("", "10.0.0.1:8081")
    assert cluster.service == [("10.0.0.1", 8081)]


def test_a_laptop_takes_over_and_the_one_before_knows_it_at_once(cluster: Cluster) -> None:
    pod = cluster.start(FIRST)
    cluster.run(3)
    laptop = cluster.start(LAPTOP, takes_over=True)
    cluster.run(0)
    assert (pod.leading, pod.elsewhere) == (False, "172.18.0.1:9000")
    assert (laptop.leading, laptop.elsewhere) == (False, ""), (
        "what the pod has begun to write is to come first"
    )
    cluster.run(LAST_WRITES_SECONDS)
    assert laptop.leading
    assert cluster.service == [("172.18.0.1", 9000)]
    cluster.run(60)
    assert (pod.leading, laptop.leading) == (False, True)


def test_between_two_active_ones_who_asks_waits_for_the_next_and_not_for_ever(cluster: Cluster) -> None:
    alone, settled = cluster.start(FIRST), list[float]()

    async def ask() -> None:
        await alone.settled()
        settled.append(cluster.clock.now())

    cluster.spawn(ask())
    cluster.run(1)
    assert (settled, alone.leading) == ([cluster.began], True)
    cluster.api.down = True
    cluster.run(LEASE_SECONDS)
    asked = cluster.clock.now()
    cluster.api.objects.clear()
    alone.replace("leases", [])
    cluster.spawn(ask())
    cluster.run(60)
    assert (settled, alone.leading) == ([cluster.began, asked + SETTLE_SECONDS], False)


def test_who_hands_back_writes_nothing_more_and_who_asks_meanwhile_learns_who_follows(
    cluster: Cluster,
) -> None:
    pod, laptop = cluster.start(FIRST), cluster.start(LAPTOP, takes_over=True)
    told: list[tuple[bool, str]] = []

    async def ask() -> None:
        await laptop.settled()
        told.append((laptop.leading, laptop.elsewhere))

    cluster.run(3)
    assert laptop.leading
    cluster.spawn(laptop.hand_back(nothing))
    cluster.run(0)
    assert not laptop.leading, "the next one must know all that was written before it begins"
    assert cluster.clock.complete(laptop.writing.send(Write("POST", "/leases"))).status == 503
    cluster.spawn(ask())
    cluster.run(1.5)
    assert (pod.leading, told) == (True, [(False, str(FIRST))])
    assert cluster.service == [("10.0.0.1", 8081)]
    cluster.run(60)
    assert pod.leading, "who has handed back does not take part any more"


def test_a_lease_is_not_handed_back_while_a_write_is_under_way(cluster: Cluster) -> None:
    pod, laptop = cluster.start(FIRST), cluster.start(LAPTOP, takes_over=True)
    cluster.run(3)
    cluster.api.slow = 2.0
    sent: list[int] = []

    async def send() -> None:
        sent.append((await laptop.writing.send(Write("PUT", "/pods"))).status)

    cluster.spawn(send())
    cluster.run(0)
    cluster.api.slow = 0.0
    cluster.spawn(laptop.hand_back(nothing))
    cluster.run(1.9)
    assert (sent, pod.leading, laptop.leading) == ([], False, False)
    cluster.run(2)
    assert (sent, pod.leading, laptop.leading) == ([200], True, False)


def test_who_waits_for_an_answer_while_its_lease_runs_out_knows_that_it_may_not_lead(
    cluster: Cluster,
) -> None:
    first = cluster.start(FIRST)
    cluster.run(3)
    assert first.leading
    cluster.api.slow = 60.0
    cluster.run(LEASE_SECONDS)
    assert not first.leading
    assert cluster.clock.complete(first.writing.send(Write("PUT", "/pods"))).status == 503
    cluster.api.slow = 0.0
    cluster.run(62)
    assert first.leading


def test_a_lease_is_handed_back_though_it_is_being_renewed_at_that_moment(cluster: Cluster) -> None:
    first, second = cluster.start(FIRST), cluster.start(SECOND)
    cluster.run(3)
    cluster.api.travel = 0.02
    known = len(cluster.api.begun)
    while len(cluster.api.begun) == known:
        cluster.run(0.005)
    cluster.spawn(first.hand_back(nothing))
    assert cluster.seconds_until_leads(second) < 1.5


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_lease_is_handed_back_though_the_server_fails_once(cluster: Cluster, method: str) -> None:
    first, second = cluster.start(FIRST), cluster.start(SECOND)
    cluster.run(3.5)
    cluster.api.failing[method] = 1
    cluster.spawn(first.hand_back(nothing))
    assert cluster.seconds_until_leads(second) < 1.5


@pytest.mark.parametrize("on_its_way", [0.0, 0.03])
def test_who_ends_while_it_takes_the_lease_does_not_keep_it(cluster: Cluster, on_its_way: float) -> None:
    first, second = cluster.start(FIRST), cluster.start(SECOND)
    cluster.run(3)
    cluster.api.travel = 0.02
    cluster.spawn(first.hand_back(nothing))
    identity = f"at-{SECOND.ip}@{SECOND}"
    while not any(identity in str(write.body) for write in cluster.api.begun):
        cluster.run(0.005)
    cluster.run(on_its_way)
    cluster.spawn(second.hand_back(nothing))
    third = cluster.start(LAPTOP)
    assert cluster.seconds_until_leads(third) < 2.5


def test_who_takes_over_begins_when_the_last_writes_of_the_one_before_are_there(cluster: Cluster) -> None:
    pod = cluster.start(FIRST)
    cluster.run(3)
    cluster.api.slow = LAST_WRITES_SECONDS - 0.1
    sent: list[int] = []

    async def send() -> None:
        sent.append((await pod.writing.send(Write("PUT", "/pods"))).status)

    cluster.spawn(send())
    cluster.run(0)
    cluster.api.slow = 0.0
    laptop = cluster.start(LAPTOP, takes_over=True)
    cluster.seconds_until_leads(laptop)
    assert sent == [200]


def test_two_never_send_callers_to_each_other(cluster: Cluster) -> None:
    """The one that takes over does not wait for its watch to know that it has the Lease."""
    pod = cluster.start(FIRST)
    cluster.run(3)
    laptop = cluster.start(LAPTOP, takes_over=True)
    cluster.api.watchers.remove(laptop)
    cluster.api.travel = 0.01
    for _ in range(100):
        cluster.run(0.001)
        assert not (pod.elsewhere == str(LAPTOP) and laptop.elsewhere == str(FIRST))


def test_what_has_begun_is_ended_before_the_lease_goes(cluster: Cluster) -> None:
    first, second = cluster.start(FIRST), cluster.start(SECOND)
    cluster.run(3)
    written: list[bool] = []

    async def drain(until: float) -> None:
        assert until == cluster.clock.now() + DRAIN_SECONDS
        assert not first.leading, "nothing new comes"
        await cluster.clock.sleep_until(cluster.clock.now() + 2)
        written.append((await first.writing.send(Write("PUT", "/pods"))).ok)

    cluster.spawn(first.hand_back(drain))
    assert 2 < cluster.seconds_until_leads(second) < 3.5
    assert written == [True]


def test_the_lease_goes_though_what_has_begun_takes_all_of_its_time_and_a_renewal_is_under_way(
    cluster: Cluster,
) -> None:
    first, second = cluster.start(FIRST), cluster.start(SECOND)
    cluster.run(3)
    cluster.api.travel = 0.02

    async def drain(until: float) -> None:
        await cluster.clock.sleep_until(until)
        known = len(cluster.api.begun)
        while len(cluster.api.begun) == known:
            await cluster.clock.sleep_until(cluster.clock.now() + 0.005)

    cluster.spawn(first.hand_back(drain))
    assert cluster.seconds_until_leads(second) < HAND_BACK_SECONDS + 1.5


def test_who_never_led_ends_at_once_though_the_server_does_not_answer(cluster: Cluster) -> None:
    cluster.start(FIRST)
    cluster.run(0.1)
    second, ended = cluster.start(SECOND), list[float]()
    cluster.run(3)
    cluster.api.slow = 60.0

    async def end() -> None:
        await second.hand_back(nothing)
        ended.append(cluster.clock.now())

    before = cluster.clock.now()
    cluster.spawn(end())
    cluster.run(0)
    assert ended == [before]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_lease_whose_release_was_not_heard_of_is_followed_before_the_process_ends(
    cluster: Cluster, failing: int
) -> None:
    """Nor, in the second case, whether it was carried out, when that is asked for the first time."""
    first = cluster.start(FIRST)
    cluster.start(SECOND)
    cluster.run(3.5)
    cluster.api.unheard, cluster.api.failing_after = 1, failing
    led: list[tuple[str, int]] = []

    async def end() -> None:
        await first.hand_back(nothing)
        led.extend(cluster.service)

    cluster.spawn(end())
    cluster.run(10)
    assert led == [("10.0.0.2", 8081)]


def test_a_cluster_that_was_restored_from_an_older_state_has_a_leader_again(cluster: Cluster) -> None:
    first, second = cluster.start(FIRST), cluster.start(SECOND)
    cluster.run(3.3)
    lease = cluster.api.objects["leases"]
    newer = {**lease, "metadata": {**lease["metadata"], "resourceVersion": "1000"}}
    for who in cluster.api.watchers:
        who.observe("leases", "MODIFIED", newer)
        who.replace("leases", [lease])
    cluster.spawn(first.hand_back(nothing))
    assert cluster.seconds_until_leads(second) < 2


def test_handing_back_ends_though_nobody_follows(cluster: Cluster) -> None:
    alone, ended = cluster.start(FIRST), list[float]()

    async def end() -> None:
        await alone.hand_back(nothing)
        ended.append(cluster.clock.now())

    cluster.run(3)
    before = cluster.clock.now()
    cluster.spawn(end())
    cluster.run(60)
    assert ended == [before + HAND_BACK_SECONDS]
    assert cluster.api.objects["leases"]["spec"]["holderIdentity"] == "", "it does not stand again"


def test_one_that_died_is_followed_when_its_lease_has_run_out(cluster: Cluster) -> None:
    identity = "dead@10.0.0.9:8081"
    spec = {"holderIdentity": identity, "leaseDurationSeconds": LEASE_SECONDS}
    cluster.api.objects["leases"] = {"metadata": {"resourceVersion": "0"}, "spec": spec}
    follower = cluster.start(FIRST)
    cluster.run(LEASE_SECONDS - 1)
    assert not follower.leading
    cluster.run(2)
    assert follower.leading
    assert cluster.service == [("10.0.0.1", 8081)]


def test_a_service_that_somebody_led_astray_leads_back(cluster: Cluster) -> None:
    cluster.start(FIRST)
    cluster.run(1)
    cluster.spawn(_delete(cluster.api))
    cluster.run(1)
    assert cluster.service == [("10.0.0.1", 8081)]


async def _delete(api: SmallApi) -> None:
    await api.send(Write("DELETE", "/endpointslices"))


def test_who_cannot_renew_stops_before_another_may_start(cluster: Cluster) -> None:
    first = cluster.start(FIRST)
    cluster.run(3)
    cluster.api.down = True
    cluster.run(LEASE_SECONDS)
    assert not first.leading
    assert first.elsewhere == "", "it must not send callers to itself"
    cluster.api.down = False
    cluster.run(2)
    assert first.leading
