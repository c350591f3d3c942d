"""Stored objects as one version of their resource shows them.

Stands for the conversion between storage and request version. An object of another version differs in its first
bytes only (this server converts custom resources by the strategy `None`), so the bytes kept by the store are reused.
"""

from dataclasses import dataclass

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.event_groups import EVENTS_GROUP, as_core, as_events_group
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.storage.storage import Stored


def converted(obj: JSON, source: Resource, shown: Resource) -> JSON:
    """An object of `source` as another version of the same resource shows it."""
    if source.api_version == shown.api_version:
        return obj
    return (
        as_events_group(obj) if shown.group == EVENTS_GROUP else View(source).storable(obj, shown.api_version)
    )


def _type_prefix(kind: str, api_version: str) -> bytes:
    return b'{"kind":"%b","apiVersion":"%b",' % (kind.encode(), api_version.encode())


@dataclass(frozen=True, slots=True)
class View:
    """One resource in one version."""

    resource: Resource

    def encoded(self, stored: Stored) -> bytes:
        """The object with its type, in JSON."""
        if stored.obj["apiVersion"] == self.resource.api_version:
            return stored.encoded
        if self.resource.group == EVENTS_GROUP:
            return orjson.dumps(as_events_group(stored.obj))
        kind, shown = stored.obj["kind"], self.resource
        stored_prefix = _type_prefix(kind, stored.obj["apiVersion"])
        return _type_prefix(kind, shown.api_version) + stored.encoded[len(stored_prefix) :]

    def item(self, stored: Stored) -> bytes:
        """The object as an item of a list: those of built-in kinds carry no type."""
        encoded = self.encoded(stored)
        if self.resource.custom:
            return encoded
        return b"{" + encoded[len(_type_prefix(self.resource.kind, self.resource.api_version)) :]

    def obj(self, stored: Stored) -> JSON:
        """The object, decoded anew for each caller."""
        decoded: JSON = orjson.loads(self.encoded(stored))
        return decoded

    def storable(self, obj: JSON, storage_version: str) -> JSON:
        """An object of this version in the form in which it is kept."""
        if self.resource.group == EVENTS_GROUP:
            return as_core(obj)
        return {**obj, "apiVersion": storage_version}
