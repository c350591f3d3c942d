"""What the API server serves, as its discovery documents say.

Stands for client-go's RESTMapper.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gpuyard.writes import JSON
from gpuyard_kube.api import Api


@dataclass(frozen=True, slots=True)
class Collection:
    """One served resource; `base` is the path of its group and version, such as `/apis/apps/v1`."""

    base: str
    plural: str
    kind: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of the collection in a namespace, or of one object of it."""
        place = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{self.base}{place}/{self.plural}" + (f"/{name}" if name else "")


def collections(base: str, document: JSON) -> Iterator[Collection]:
    """The resources of an APIResourceList that can be deleted, without subresources."""
    for entry in document.get("resources", ()):
        if "/" not in entry["name"] and "delete" in entry.get("verbs", ()):
            yield Collection(base, entry["name"], entry["kind"], entry["namespaced"])


def base_of(api_version: str) -> str:
    """`v1` -> `/api/v1`, `apps/v1` -> `/apis/apps/v1`."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


async def of_kind(api: Api, api_version: str, kind: str) -> Collection | None:
    """Where objects of that kind are; None when it is not served. ConnectionError when the server does not say."""
    base = base_of(api_version)
    return next((found for found in await _read(api, base) if found.kind == kind), None)


async def everything(api: Api) -> list[Collection]:
    """All resources, each group in the version that it prefers. ConnectionError when the server does not say."""
    reply = await api.read("/apis")
    if not reply.ok:
        raise ConnectionError(reply.reason)
    versions = [group["preferredVersion"]["groupVersion"] for group in reply.body.get("groups", ())]
    lists = [await _read(api, base_of(version)) for version in ("v1", *versions)]
    return [found for part in lists for found in part]


async def _read(api: Api, base: str) -> list[Collection]:
    reply = await api.read(base)
    if reply.status == 404:
        return []
    if not reply.ok:
        raise ConnectionError(reply.reason)
    return list(collections(base, reply.body))
