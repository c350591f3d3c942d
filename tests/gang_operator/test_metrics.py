"""What a scraper reads of the operator is what has happened."""

import asyncio
from collections.abc import Mapping

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuyard.groups import reservations
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unready
from gpuyard.writes import Reply, Write
from gpuyard_kube.serving import PageServer
from gpuyard_operator import tally
from gpuyard_operator.metrics import Metrics
from tests.gang_operator.world import World


def samples(text: str) -> Mapping[str, float]:
    return {
        sample.name.removeprefix("gpuyard_operator_")
        + "".join(f" {v}" for v in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def scraped(metrics: Metrics) -> Mapping[str, float]:
    """As a scraper gets it, over HTTP."""
    async with PageServer(metrics.pages(), "127.0.0.1", 0) as server, aiohttp.ClientSession() as session:
        async with session.get(f"{server.url}/livez") as response:
            assert response.status == 200
        async with session.get(f"{server.url}/metrics") as response:
            assert response.headers["Content-Type"].startswith("text/plain; version=")
            return samples(await response.text())


def of(world: World) -> Mapping[str, float]:
    metrics = Metrics()
    metrics.watch(world.operator)
    return asyncio.run(scraped(metrics))


def test_an_operator_that_waits_for_the_lease_says_just_that() -> None:
    found = asyncio.run(scraped(Metrics()))
    assert found["leading"] == 0
    assert not [name for name in found if name.startswith(("reconciles", "gangs"))]


def test_writes_are_counted_by_resource_and_gangs_by_phase() -> None:
    world = World()
    world.node("node-1", gpus=2)
    world.group(minMember=2)
    world.group("waits", minMember=2)
    for name in ("a", "b"):
        world.pod(name)
    world.settle()
    found = of(world)
    assert found["leading"] == 1
    assert found["reconciles_total"] > 0
    assert found["writes_total reservations"] >= 1
    assert found["writes_total pods"] == 2
    assert found["writes_total podgroups/status"] >= 2
    assert sum(value for name, value in found.items() if name.startswith("gangs ")) == 2
    assert found["gangs Pending"] == 1


def test_a_write_that_fails_is_counted_as_such() -> None:
    world = World()
    world.node("node-1", gpus=2)
    world.api.fails = lambda write: write.path == reservations.path("default")
    world.group(minMember=1)
    world.pod("a")
    world.settle()
    found = of(world)
    assert found["failed_writes_total reservations"] >= 1
    assert "writes_total reservations" not in found


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/api/v1/namespaces/ns/pods/a", "pods"),
        ("/api/v1/namespaces/ns/pods/a/status", "pods/status"),
        ("/api/v1/namespaces/ns/pods/a/eviction", "pods/eviction"),
        ("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ns/podgroups/g/status", "podgroups/status"),
        ("/apis/gpuyard.io/v1alpha1/namespaces/ns/reservations", "reservations"),
    ],
)
def test_what_is_written_is_told_by_its_path(path: str, resource: str) -> None:
    assert tally.resource(Write("POST", path)) == resource


def test_the_status_of_a_group_that_is_gone_needs_no_write_but_a_missing_definition_is_told() -> None:
    status = Write("PATCH", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ns/podgroups/g/status")
    counted = tally.Tally()
    assert counted.note(status, Reply(404, {"message": 'podgroups.scheduling.x-k8s.io "g" not found'}))
    assert not counted.note(
        status, Reply(404, {"message": "the server could not find the requested resource"})
    )


class Down:
    async def plan(self, request: PlanRequest) -> PlanAnswer:
        return Unready("down")


def test_plans_are_timed_by_answer() -> None:
    metrics = Metrics()
    request = PlanRequest("default", "ring", 1, ("uid-a",))
    answer = asyncio.run(metrics.timed(Down()).plan(request))
    assert answer == Unready("down")
    assert asyncio.run(scraped(metrics))["plan_duration_seconds_count Unready"] == 1
