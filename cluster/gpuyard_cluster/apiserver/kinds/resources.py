"""What the API server serves: the resources of a cluster, as values.

Stands for the REST storage map and the scheme of kube-apiserver. The built-in resources are in `builtin`; a
CustomResourceDefinition adds more through `definitions.resources_of`.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuyard.writes import JSON

if TYPE_CHECKING:
    from gpuyard_cluster.apiserver.custom.schemas import Schema

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
NEVER_ANY = ("get", "list", "watch")
"""Of what nobody can make here: there are none, and operators that follow them can be told so."""
CHANGE_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of a resource with its own path. `group`, `version` and `kind` name what the path reads or takes."""

    name: str
    kind: str
    group: str = ""
    version: str = "v1"
    verbs: tuple[str, ...] = CHANGE_VERBS
    paths: tuple[tuple[str, str], ...] = ()
    """For `scale` of a custom resource: specReplicasPath, statusReplicasPath, labelSelectorPath -> JSON path."""


@dataclass(frozen=True, slots=True)
class Column:
    """One additionalPrinterColumn of a CustomResourceDefinition."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource in one version. `group` is empty for core; `plural` is the path segment."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    singular: str
    list_kind: str
    short_names: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    custom: bool = False
    selectable: tuple[str, ...] = ()
    """Field selectors beyond metadata.name and metadata.namespace, as dotted paths such as `spec.nodeName`."""
    schema: "Schema | None" = field(default=None, compare=False)
    """The structural schema of a custom resource; None for built-in kinds."""

    @property
    def api_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The name in messages: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        """The kind in messages: `Pod`, `Deployment.apps`. Both kinds of events are one."""
        return f"{self.kind}.{self.group}" if self.group and self.store == self.qualified else self.kind

    @property
    def store(self) -> str:
        """Where its objects are kept: all versions of a resource share it, and so do both kinds of events."""
        return "events" if self.qualified == "events.events.k8s.io" else self.qualified

    def subresource(self, name: str) -> Subresource | None:
        """The subresource of that name, or None."""
        return next((sub for sub in self.subresources if sub.name == name), None)

    @property
    def collection(self) -> str:
        """The path of all its objects: `/api/v1/pods`, `/apis/apps/v1/deployments`."""
        return f"/{'apis' if self.group else 'api'}/{self.api_version}/{self.plural}"

    @property
    def document(self) -> JSON | None:
        """The openAPIV3Schema of a custom resource as written; None for built-in kinds."""
        return self.schema.document if self.schema is not None else None

    @property
    def status_isolated(self) -> bool:
        """Whether `status` is written through its own path only."""
        return self.subresource("status") is not None
