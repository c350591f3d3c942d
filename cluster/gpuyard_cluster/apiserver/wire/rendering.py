"""Objects and lists in the form that a client accepts.

Stands for the transformers of kube-apiserver's handlers (`responsewriters`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import bad_request
from gpuyard_cluster.apiserver.requests import JSON_TYPE, Request, Response
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.storage.views import View
from gpuyard_cluster.apiserver.tables import tables
from gpuyard_cluster.apiserver.wire import encoding
from gpuyard_cluster.apiserver.wire.accept import YAML_TYPE, Form, not_acceptable

_PARTIAL_VERSION = "meta.k8s.io/v1"
_INCLUDES = ("", "None", "Metadata", "Object")


def document(value: Any, form: Form, status: int = 200) -> Response:
    """A response that holds `value` in the media type of `form`."""
    return _response(orjson.dumps(value), form, status)


def _response(encoded: bytes, form: Form, status: int = 200) -> Response:
    if form.media == YAML_TYPE:
        return Response(status, (("content-type", YAML_TYPE),), encoding.to_yaml(orjson.loads(encoded)))
    return Response(status, (("content-type", JSON_TYPE),), encoded)


@dataclass(frozen=True, slots=True)
class Renderer:
    """How one request wants to see one resource. `include` is the includeObject of a Table."""

    view: View
    form: Form
    now: Callable[[], float]
    include: str = "Metadata"

    def response(self, stored: Stored, status: int = 200) -> Response:
        """One object."""
        _require(self.form, "PartialObjectMetadata")
        return _response(self.encoded(stored), self.form, status)

    def encoded(self, stored: Stored) -> bytes:
        """One object, or the Table that shows it, in JSON."""
        if self.form.shape == "Table":
            return orjson.dumps(self._table([stored], str(stored.revision)))
        if self.form.partial:
            return orjson.dumps(_partial(stored))
        return self.view.encoded(stored)

    def listing(self, items: Sequence[Stored], metadata: JSON) -> Response:
        """A list; `metadata` is its ListMeta."""
        _require(self.form, "PartialObjectMetadataList")
        if self.form.shape == "Table":
            table = self._table(items, metadata["resourceVersion"])
            return document({**table, "metadata": metadata}, self.form)
        if self.form.partial:
            return document(_partial_list(items, metadata), self.form)
        resource = self.view.resource
        if resource.custom:
            metadata = {"continue": "", **metadata}
        head = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": metadata}
        body = b",".join(self.view.item(stored) for stored in items)
        return _response(b'%b,"items":[%b]}' % (orjson.dumps(head)[:-1], body), self.form)

    def bookmark(self, metadata: JSON) -> bytes:
        """The object of a bookmark: of the watched kind, with nothing but `metadata`."""
        resource = self.view.resource
        kind, version = resource.kind, resource.api_version
        if self.form.shape == "Table":
            kind, version = "Table", _PARTIAL_VERSION
            return orjson.dumps(
                {
                    "kind": kind,
                    "apiVersion": version,
                    "metadata": metadata,
                    "columnDefinitions": [],
                    "rows": [],
                }
            )
        if self.form.partial:
            kind, version = "PartialObjectMetadata", _PARTIAL_VERSION
        return orjson.dumps({"kind": kind, "apiVersion": version, "metadata": metadata})

    def _table(self, items: Sequence[Stored], revision: str) -> JSON:
        objects = [self.view.obj(stored) for stored in items]
        return tables.table(self.view.resource, objects, self.include, revision, self.now())


def renderer(request: Request, view: View, form: Form, now: Callable[[], float]) -> Renderer:
    """How `request` wants to see the objects of `view`; `now` is asked for ages in a Table."""
    include = request.query.get("includeObject", "")
    if include not in _INCLUDES:
        raise bad_request(f'invalid value "{include}" for includeObject: it is None, Metadata or Object')
    return Renderer(view, form, now, include or "Metadata")


def _require(form: Form, shape: str) -> None:
    """406 where an object is asked for as a list, or a list as an object."""
    if form.partial and form.shape != shape:
        raise not_acceptable()


def _partial(stored: Stored) -> JSON:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": _PARTIAL_VERSION,
        "metadata": stored.obj["metadata"],
    }


def _partial_list(items: Sequence[Stored], metadata: JSON) -> JSON:
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": _PARTIAL_VERSION,
        "metadata": metadata,
        "items": [_partial(stored) for stored in items],
    }
