"""List and watch: an observer is kept up to date about some resources, through every kind of interruption.

Stands for client-go's reflector: list, watch from the list's version, resume where a watch ended, list anew when
that version has expired or the connection failed in a way that leaves a doubt.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from urllib.parse import parse_qsl, urlsplit

import aiohttp

from gpuyard.narration import words_of
from gpuyard.writes import JSON
from gpuyard_kube.api import Observer
from gpuyard_kube.http import HttpApi

log = logging.getLogger("gpuyard.informer")

WATCH_SECONDS = "240"
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds before the next try after a failure: doubled each time, from the first to the longest."""
TOLD_PAUSE = 0.8
"""A failure is logged once it has outlived a restart of the server: connections break all the time."""


class ExpiredError(Exception):
    """The version to watch from is too old: list again."""


class Informer:
    """Feeds `observer` the objects of `resources`: plural -> path, such as {"pods": "/api/v1/pods?labelSelector=x"}.

    A resource that the server does not serve yet (a CRD to come) has no objects, and is asked for again.
    """

    def __init__(self, api: HttpApi, observer: Observer, resources: Mapping[str, str]) -> None:
        self._api, self._observer, self._resources = api, observer, resources

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for resource, path in self._resources.items():
                tasks.create_task(self._follow(resource, path), name=f"informer {resource}")

    async def _follow(self, resource: str, path: str) -> None:
        pause, told = FIRST_PAUSE, ""
        while True:
            try:
                version = await self._list(resource, path)
                while True:
                    async for reached in self._watch(resource, path, version):
                        # Only now: many lists in a row that no watch can follow would be a load on the server.
                        version, pause, told = reached, FIRST_PAUSE, ""
            except (ExpiredError, aiohttp.ClientError, TimeoutError, ConnectionError) as error:
                problem = words_of(error)
                if pause >= TOLD_PAUSE and problem != told:
                    log.warning("%s cannot be followed: %s; trying again", resource, problem)
                    told = problem
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except Exception:
                # A fault of the observer: it is to know all the rest, and what comes.
                log.exception("%s cannot be taken in; trying again", resource)
                await asyncio.sleep(LONGEST_PAUSE)

    async def _list(self, resource: str, path: str) -> str:
        bare, query = _split(path)
        reply = await self._api.read(bare, **query)
        if reply.status == 404:
            self._observer.replace(resource, [])
            raise ConnectionError(f"{bare} is not served yet")
        if not reply.ok:
            raise ConnectionError(reply.reason)
        self._observer.replace(resource, reply.body.get("items") or [])
        return str(reply.body["metadata"]["resourceVersion"])

    async def _watch(self, resource: str, path: str, version: str) -> AsyncIterator[str]:
        """Hand on one watch's events; each time the version that was reached."""
        bare, query = _split(path)
        query |= {"resourceVersion": version, "allowWatchBookmarks": "true", "timeoutSeconds": WATCH_SECONDS}
        async for event in self._api.watch(bare, query):
            yield self._hand_on(resource, event)

    def _hand_on(self, resource: str, event: JSON) -> str:
        kind, obj = event["type"], event["object"]
        if kind == "ERROR":
            raise ExpiredError(obj.get("message", ""))
        if kind != "BOOKMARK":
            self._observer.observe(resource, kind, obj)
        return str(obj["metadata"]["resourceVersion"])


def _split(path: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(path)
    return parts.path, dict(parse_qsl(parts.query))
