"""Kopf delivers what there is to know, and leaves no traces."""

import asyncio
from collections.abc import Iterable

from gpuyard.writes import JSON
from gpuyard_kube.servers import Server
from gpuyard_operator import handlers
from gpuyard_operator.cache import PATHS


class Seen:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, JSON]] = []

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        raise AssertionError("kopf tells of single objects only")

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        self.events.append((resource, event, obj))


def test_kopf_watches_what_the_operator_must_know_and_does_not_come_by_the_ten_thousand() -> None:
    async def nothing() -> None:
        """No hook."""

    sessions = handlers.Sessions(Server("http://127.0.0.1:1"))
    made = handlers.registry(Seen(), sessions, handlers.Hooks(nothing, nothing))
    watched = [(found.group, found.version, found.any_name) for found in made._watching.get_all_selectors()]
    paths = [
        f"/apis/{group}/{version}/{name}" if group else f"/api/{version}/{name}"
        for group, version, name in watched
    ]
    assert sorted(paths) == sorted(PATHS[resource] for resource in PATHS.keys() - {"pods", "nodes"})


def test_objects_that_kopf_lists_are_told_as_added() -> None:
    seen = Seen()
    deliver = handlers.deliverer(seen, "pods")
    asyncio.run(
        _all(deliver({"type": None, "object": {"a": 1}}), deliver({"type": "DELETED", "object": {"a": 2}}))
    )
    assert seen.events == [("pods", "ADDED", {"a": 1}), ("pods", "DELETED", {"a": 2})]


async def _all(*calls: object) -> None:
    for call in calls:
        await call  # type: ignore[misc]


def test_kopf_posts_no_events_and_never_kills_the_process_that_embeds_it() -> None:
    settings = handlers.settings()
    assert not settings.posting.enabled
    assert settings.peering.standalone
    assert settings.process.ultimate_exiting_timeout is None


def test_kopf_uses_our_own_connections_and_we_close_them() -> None:
    async def story() -> tuple[str, bool]:
        sessions = handlers.Sessions(Server("http://127.0.0.1:1"))
        given = [await sessions.login(), await sessions.login()]
        await sessions.close()
        return given[0].server, all(one.aiohttp_session.closed for one in given)

    assert asyncio.run(story()) == ("http://127.0.0.1:1", True)
