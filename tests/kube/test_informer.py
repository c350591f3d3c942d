"""An observer is kept up to date through every kind of interruption."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

import aiohttp
import pytest

from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_kube import informer as informer_module
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from tests.kube.serving import CONFIGS, Notes, Served, create, served

THINGS = "/apis/example.com/v1/namespaces/default/things"


def observing(
    test: Callable[[Served, Notes], Awaitable[None]], path: str = CONFIGS, history: int = 1000
) -> Notes:
    """Run a test beside an informer of "configmaps" at `path`."""
    notes = Notes()

    async def run() -> None:
        async with served(history) as found:
            informer = asyncio.create_task(Informer(found.api, notes, {"configmaps": path}).run())
            try:
                await test(found, notes)
                assert not informer.done()
            finally:
                informer.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await informer

    asyncio.run(run())
    return notes


def test_first_comes_a_list_then_every_change() -> None:
    async def check(found: Served, notes: Notes) -> None:
        await notes.until(lambda: notes.lists == 1)
        await found.api.send(create("a"))
        await found.api.send(Write("PATCH", f"{CONFIGS}/a", {"data": {"k": "v"}}, PatchType.MERGE))
        await found.api.send(Write("DELETE", f"{CONFIGS}/a"))
        await notes.until(lambda: len(notes.told) == 4)

    notes = observing(check)
    assert notes.told == [
        "configmaps []",
        *(f"configmaps {event} a" for event in ("ADDED", "MODIFIED", "DELETED")),
    ]


def test_an_observer_that_fails_once_is_told_all_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(informer_module, "LONGEST_PAUSE", 0.0)

    async def check(found: Served, notes: Notes) -> None:
        await notes.until(lambda: notes.lists == 1)
        take = notes.observe

        def fail(resource: str, event: str, obj: JSON) -> None:
            notes.observe = take  # type: ignore[method-assign]
            raise LookupError("a fault of ours")

        notes.observe = fail  # type: ignore[method-assign]
        await found.api.send(create("a"))
        await notes.until(lambda: "a" in notes.known)
        await found.api.send(create("b"))
        await notes.until(lambda: "b" in notes.known)

    observing(check)
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["a fault of ours"]


def test_selectors_in_a_path_choose_what_is_observed() -> None:
    async def check(found: Served, notes: Notes) -> None:
        for name in ("a", "b"):
            await found.api.send(create(name))
        await notes.until(lambda: "b" in notes.known)
        assert set(notes.known) == {"b"}

    observing(check, f"{CONFIGS}?fieldSelector=metadata.name%3Db")


def test_a_watch_that_ends_is_resumed_where_it_was() -> None:
    async def check(found: Served, notes: Notes) -> None:
        await notes.until(lambda: notes.lists == 1)
        for name in ("a", "b", "c"):
            await found.api.send(create(name))
            await notes.until(lambda name=name: name in notes.known)  # type: ignore[misc]
            found.server.close()  # every watch ends; the server serves on

    assert observing(check).told == ["configmaps []", *(f"configmaps ADDED {name}" for name in "abc")]


def test_what_happened_while_nobody_watched_is_not_lost_when_the_version_has_expired() -> None:
    async def check(found: Served, notes: Notes) -> None:
        await found.api.send(create("a"))
        await notes.until(lambda: "a" in notes.known)
        await found.listener.close()
        silently(found, *(create(f"new-{number}") for number in range(10)), Write("DELETE", f"{CONFIGS}/a"))
        await found.restart()
        await notes.until(lambda: "new-9" in notes.known)
        assert "a" not in notes.known

    assert observing(check, history=3).lists == 2


def test_a_server_that_is_another_after_its_restart_is_listed_anew() -> None:
    async def check(found: Served, notes: Notes) -> None:
        await found.api.send(create("old"))
        await notes.until(lambda: "old" in notes.known)
        await found.listener.close()
        found.server = APIServer(lambda: 1_700_000_000.0, seed=1)
        silently(found, create("young"))
        await found.restart()
        await notes.until(lambda: set(notes.known) == {"young"})

    observing(check)


def test_a_resource_that_is_not_served_yet_has_no_objects_and_comes_later() -> None:
    async def check(found: Served, notes: Notes) -> None:
        await notes.until(lambda: notes.told == ["configmaps []"])
        await found.api.send(
            Write("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", THING_DEFINITION)
        )
        thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
        assert (await found.api.send(Write("POST", THINGS, thing))).ok
        await notes.until(lambda: "t" in notes.known)

    observing(check, THINGS)


class Unwatchable:
    """An API server that serves lists alone."""

    def __init__(self, refusal: JSON | Exception) -> None:
        self._refusal = refusal

    async def read(self, _path: str, **_query: str) -> Reply:
        return Reply(200, {"items": [], "metadata": {"resourceVersion": "7"}})

    async def watch(self, _path: str, _query: object) -> AsyncIterator[JSON]:
        if isinstance(self._refusal, Exception):
            raise self._refusal
        yield self._refusal


@pytest.mark.parametrize(
    "refusal",
    [
        {"type": "ERROR", "object": {"code": 410, "message": "too old"}},
        aiohttp.ClientPayloadError("too many requests"),
    ],
)
def test_lists_that_no_watch_can_follow_become_rare_and_are_told(
    refusal: JSON | Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 8:
            raise asyncio.CancelledError

    monkeypatch.setattr(informer_module.asyncio, "sleep", sleep)
    unwatchable = cast(HttpApi, Unwatchable(refusal))
    asyncio.run(Informer(unwatchable, Notes(), {"configmaps": CONFIGS}).run())
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert len(caplog.messages) == 1
    assert "too " in caplog.messages[0]


async def test_a_server_that_is_down_is_asked_until_it_answers() -> None:
    notes = Notes()

    async with served() as found:
        await found.listener.close()
        informer = asyncio.create_task(Informer(found.api, notes, {"configmaps": CONFIGS}).run())
        await asyncio.sleep(0)
        await found.restart()
        await notes.until(lambda: notes.lists == 1)
        informer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await informer


def test_a_failure_that_lasts_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def said() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == "gpuyard.informer"]

    async def check(_found: Served, notes: Notes) -> None:
        await notes.until(lambda: len(said()) > 0 and notes.lists > 4)

    observing(check, THINGS)
    assert said() == [f"configmaps cannot be followed: {THINGS} is not served yet; trying again"]


def silently(found: Served, *writes: Write) -> None:
    """Do writes in a server that does not listen."""
    api = DirectApi(found.server, "kubectl")
    assert all(Steps().complete(api.send(write)).ok for write in writes)


THING_DEFINITION: JSON = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}
