"""What the operator lacks is said where people look, and the work goes on when it is there."""

import asyncio
import threading

import aiohttp
import pytest

from gpuyard.writes import JSON, Reply, Write
from gpuyard_kube.recording import Recorder
from gpuyard_kube.serving import PageServer
from gpuyard_operator.checking import Checks
from gpuyard_operator.metrics import Metrics
from gpuyard_operator.service import PENDING
from gpuyard_operator.tally import Tally
from tests.gang_operator.world import World

LEASE: JSON = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "gpuyard-operator", "namespace": "default", "uid": "u"},
}
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgroups.scheduling.x-k8s.io"
FORBIDDEN = Reply(403, {"message": 'pods "a" is forbidden: User "op" cannot patch resource "pods"'})
FULL = Reply(403, {"message": 'reservations "r" is forbidden: exceeded quota'})
RESERVE = Write("POST", "/apis/gpuyard.io/v1alpha1/namespaces/default/reservations", {})


@pytest.fixture
def world() -> World:
    return World()


def checks(world: World) -> tuple[Checks, threading.Event]:
    found, ready = (
        Checks(world.operator, world.clock, Recorder(world.api, world.clock), LEASE),
        threading.Event(),
    )
    found.start(ready)
    return found, ready


def told(world: World) -> list[tuple[str, str]]:
    return [(event["reason"], event["message"]) for event in world.api.list("/api/v1/events")]


def test_a_definition_that_is_missing_is_named_with_the_remedy_until_it_is_there(world: World) -> None:
    """G53."""
    definition = world.at(DEFINITION)
    assert definition is not None
    world.delete(DEFINITION)
    found, ready = checks(world)
    world.advance(5)
    assert found.problem.startswith("cannot list podgroups: ")
    assert found.problem.endswith("; install the definitions of manifests/crds")
    assert not ready.is_set()
    kept = {key: definition["metadata"][key] for key in ("name", "annotations")}
    world.api.create(DEFINITION.rpartition("/")[0], {**definition, "metadata": kept})
    world.advance(2)
    assert (found.problem, ready.is_set()) == ("", True)
    assert [reason for reason, _ in told(world)] == ["SelfCheckFailed", "SelfCheckPassed"]


def test_a_right_that_is_missing_is_named_until_it_is_given_and_a_quota_is_no_right() -> None:
    """G53."""
    tally = Tally()
    assert not tally.note(RESERVE, FULL)
    assert tally.forbidden == {}
    assert not tally.note(RESERVE, FORBIDDEN)
    assert tally.forbidden["reservations"].endswith(
        "; give it the rights of manifests/operator-cluster-role.yaml"
    )
    assert tally.note(RESERVE, Reply(201, {}))
    assert (tally.forbidden, tally.failed_writes["reservations"]) == ({}, 2)


def test_a_right_that_is_missed_between_two_lists_is_told_of_within_seconds(world: World) -> None:
    checks(world)
    world.advance(5)
    world.operator.tally.note(RESERVE, FORBIDDEN)
    world.advance(2)
    assert [reason for reason, _ in told(world)] == ["SelfCheckFailed"]
    world.operator.tally.note(RESERVE, Reply(201, {}))
    world.advance(2)
    assert [reason for reason, _ in told(world)] == ["SelfCheckFailed", "SelfCheckPassed"]


def test_that_the_lists_take_their_time_is_nothing_to_tell_of(world: World) -> None:
    held, world.events["pods"] = world.events["pods"], []
    found, ready = checks(world)
    world.advance(5)
    assert (found.problem, ready.is_set()) == (PENDING, False)
    world.events["pods"] = held
    world.advance(1)
    assert (found.problem, ready.is_set()) == ("", True)
    assert told(world) == []


def test_an_operator_is_ready_unless_it_lacks_something(world: World) -> None:
    metrics = Metrics()

    async def asked() -> tuple[int, str]:
        async with (
            PageServer(metrics.pages(), "127.0.0.1", 0) as server,
            aiohttp.ClientSession() as session,
            session.get(f"{server.url}/readyz") as response,
        ):
            return response.status, await response.text()

    assert asyncio.run(asked()) == (200, "ok")
    found, _ = checks(world)
    metrics.watch(world.operator, found)
    assert asyncio.run(asked()) == (503, PENDING)
    world.settle()
    assert asyncio.run(asked()) == (200, "ok")
    world.operator.tally.note(RESERVE, FORBIDDEN)
    status, text = asyncio.run(asked())
    assert (status, text.startswith("cannot write reservations: ")) == (503, True)
