"""The resources served at the moment: the built-in ones, and those of CustomResourceDefinitions.

Stands for the delegation chain of kube-apiserver and apiextensions-apiserver.
"""

from collections.abc import Iterable

from gpuyard_cluster.apiserver.errors import ApiError, not_served
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.verbs.unserved import UNSERVED


class NoSuchPathError(Exception):
    """No API is served there: answered with 404 in plain text, as the server's mux does."""


class Registry:
    """Which resource a path means."""

    def __init__(self, builtin: Iterable[Resource]) -> None:
        self._resources: dict[tuple[str, str, str], Resource] = {}
        self._storage_versions: dict[str, str] = {}
        for resource in builtin:
            self.add(resource, resource.api_version)

    def add(self, resource: Resource, storage_version: str) -> None:
        """Serve `resource`; its objects are kept in `storage_version`, such as `v1` or `apps/v1`."""
        self._resources[resource.group, resource.version, resource.plural] = resource
        self._storage_versions.setdefault(resource.store, storage_version)

    def remove(self, qualified: str) -> None:
        """Stop serving all versions of a resource."""
        self._resources = {
            key: found for key, found in self._resources.items() if found.qualified != qualified
        }
        self._storage_versions.pop(qualified, None)

    def all(self) -> list[Resource]:
        """Everything that is served."""
        return list(self._resources.values())

    def storage_version(self, resource: Resource) -> str:
        """The apiVersion in which objects of `resource` are kept."""
        return self._storage_versions[resource.store]

    def find(self, group: str, version: str, plural: str) -> Resource:
        """The resource at that path; 404, or 501 when kube-apiserver serves it."""
        found = self._resources.get((group, version, plural))
        if found is not None:
            return found
        if plural in UNSERVED.get(group, ()):
            raise not_served(f"{plural}.{group}" if group else plural)
        if any(known.group == group for known in self._resources.values()):
            raise unknown_resource()
        raise NoSuchPathError


def unknown_resource() -> ApiError:
    """404 for a resource or subresource that does not exist in a known group."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})
