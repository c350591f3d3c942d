"""What must come of the gangs that operators of others make: all or nothing, on planned devices, and nothing left."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON, Write
from gpuyard_cli.backends import kind as kind_backend
from gpuyard_kube.http import HttpApi
from tests.e2e.operators.programs import Running
from tests.e2e.stories.cluster import faults, held, node_of, until

_GROUPS: Final = f"/apis/{vocabulary.POD_GROUP_API}"
_KINDS: Final = (
    "api/v1 pods services configmaps secrets",
    "apis/batch/v1 jobs",
    f"{_GROUPS.removeprefix('/')} podgroups",
    "apis/gpuyard.io/v1alpha1 reservations",
)
"""What operators make for their jobs, and we for those."""


@dataclass(frozen=True)
class Place:
    """A namespace, and the operator whose jobs are in it."""

    api: HttpApi
    namespace: str
    running: Running

    def within(self, prefix: str, resource: str) -> str:
        return f"/{prefix}/namespaces/{self.namespace}/{resource}"

    async def submit(self, jobs: str, job: JSON) -> str:
        """Its name, once it was accepted."""
        await self.create(self.within(*jobs.split()), job)
        return str(job["metadata"]["name"])

    async def create(self, path: str, obj: JSON) -> None:
        """As soon as it is accepted: webhooks are there only when the program is, and their Service follows later."""
        said: list[str] = []

        async def is_accepted() -> bool:
            reply = await self.api.send(Write("POST", path, obj))
            said.append(reply.reason)
            return reply.ok or reply.status == _CONFLICT

        await until(is_accepted, lambda: f"{path} is accepted: {said[-1]}\n{self.running.told()}")

    async def refused(self, jobs: str, job: JSON) -> str:
        """Why it is not accepted."""
        reply = await self.api.send(Write("POST", self.within(*jobs.split()), job))
        assert not reply.ok
        return reply.reason

    async def delete(self, jobs: str, name: str) -> None:
        reply = await self.api.send(Write("DELETE", f"{self.within(*jobs.split())}/{name}"))
        assert reply.ok, reply.reason

    async def group(self, name: str) -> JSON:
        """The PodGroup, once it is there; empty before."""
        reply = await self.api.read(f"{self.within(_GROUPS.removeprefix('/'), 'podgroups')}/{name}")
        return reply.body if reply.ok else {}

    async def members(self, group: str) -> list[JSON]:
        label = f"{vocabulary.POD_GROUP}={group}"
        reply = await self.api.read(self.within("api/v1", "pods"), labelSelector=label)
        return list(reply.body["items"])

    async def contents(self) -> set[str]:
        """Kind and name of all that is there."""
        found: set[str] = set()
        for prefix, *resources in (line.split() for line in _KINDS):
            for resource in resources:
                items = (await self.api.read(self.within(prefix, resource))).body["items"]
                found |= {f"{resource}/{item['metadata']['name']}" for item in items}
        return found - {_ROOT_CA}


_ROOT_CA: Final = "configmaps/kube-root-ca.crt"
"""A real cluster has it in each namespace."""
_CONFLICT: Final = 409
"""A job that was stored although its answer came too late."""


def play(running: Running, namespace: str, story: Callable[[Place], Awaitable[None]]) -> None:
    """A story in a new namespace, of which nothing is left but the namespace."""

    async def whole() -> None:
        async with kind_backend.connected(str(running.kubeconfig)) as api:
            head = {"metadata": {"name": namespace}}
            assert (await api.send(Write("POST", "/api/v1/namespaces", head))).ok
            await story(Place(api, namespace, running))

    asyncio.run(whole())


async def runs_as_a_whole(place: Place, group: str, members: int, gpus: int) -> None:
    """All of the operator's pods run, and hold the planned devices."""
    pods: list[JSON] = []

    async def all_run() -> bool:
        pods[:] = await place.members(group)
        phases = [pod["status"].get("phase") for pod in pods]
        return phases == ["Running"] * members and sum(len(held(pod)) for pod in pods) == gpus

    await until(all_run, lambda: f"{members} pods run: {_states(pods)}\n{place.running.told()}")
    assert faults(pods) == []


async def has(place: Place, *names: str) -> None:
    """What the operator makes beside the pods is there, too."""

    async def all_there() -> bool:
        return set(names) <= await place.contents()

    await until(all_there, lambda: f"there are {names}\n{place.running.told()}")


async def waits_as_a_whole(place: Place, group: str, members: int) -> str:
    """All of its pods are there and none has a node; why, as the PodGroup says it."""
    found: list[JSON] = []

    async def is_refused() -> bool:
        pods = await place.members(group)
        found[:] = [scheduled(await place.group(group))]
        return len(pods) == members and found[0].get("reason") == "GangUnplaceable"

    await until(is_refused, lambda: f"the gang is refused: {found}\n{place.running.told()}")
    pods = await place.members(group)
    assert [node_of(pod) for pod in pods] == [""] * members
    return str(found[0]["message"])


async def leaves_nothing(place: Place, jobs: str, name: str) -> None:
    """The job is deleted, and with it all that was made for it."""
    await place.delete(jobs, name)
    left: set[str] = set()

    async def is_empty() -> bool:
        left.clear()
        left.update(await place.contents())
        return not left

    await until(is_empty, lambda: f"nothing is left: {sorted(left)}\n{place.running.told()}")


def scheduled(group: JSON) -> JSON:
    """The condition Scheduled of a PodGroup."""
    conditions = (group.get("status") or {}).get("conditions") or ()
    return next((found for found in conditions if found["type"] == "Scheduled"), {})


def _states(pods: list[JSON]) -> list[str]:
    return [f"{pod['metadata']['name']}: {pod['status'].get('phase')} on {node_of(pod)!r}" for pod in pods]
