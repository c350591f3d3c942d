"""From a path to what it names.

Stands for the RequestInfo resolver of kube-apiserver.
"""

from dataclasses import dataclass

from gpuyard_cluster.apiserver.errors import not_served
from gpuyard_cluster.apiserver.kinds.registry import NoSuchPathError, Registry, unknown_resource
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.storage.storage import object_key

_NAMESPACE_PARTS = ("status", "finalize")
"""Second segments after a namespace's name that are its own subresources, not resources inside it."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a collection, an object of it, or a subresource of that object. Empty: not given."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        """Where the object is kept in its collection."""
        return object_key(self.namespace, self.name)

    @property
    def prefix(self) -> str:
        """What the keys of the collection's objects start with."""
        return f"{self.namespace}/" if self.namespace else ""


def resolve(path: str, registry: Registry) -> Target:
    """The target of an API path; NoSuchPathError or ApiError when there is none."""
    group, version, rest = _split(path)
    if rest and rest[0] == "watch":
        raise not_served("the deprecated /watch/ paths: use ?watch=true on the collection")
    namespace, rest = _namespace(rest)
    if not rest:
        registry.find(group, version, "")
        raise NoSuchPathError
    resource = registry.find(group, version, rest[0])
    name, subresource = (rest[1:] + ["", ""])[:2]
    misplaced = bool(namespace) != resource.namespaced and bool(namespace or name)
    if misplaced or len(rest) > 3:
        raise unknown_resource()
    if subresource and resource.subresource(subresource) is None:
        raise unknown_resource()
    return Target(resource, namespace, name, subresource)


def _split(path: str) -> tuple[str, str, list[str]]:
    match [part for part in path.split("/") if part]:
        case ["api", version, *rest]:
            return "", version, rest
        case ["apis", group, version, *rest]:
            return group, version, rest
        case _:
            raise NoSuchPathError


def _namespace(rest: list[str]) -> tuple[str, list[str]]:
    """Cut `namespaces/<name>` off what lies inside a namespace."""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in _NAMESPACE_PARTS:
        return rest[1], rest[2:]
    return "", rest
