"""Decoding of the built-in kinds: what Go's typed decoder and encoder do to a body on its way into the store.

Stands for the generated codecs of `k8s.io/api`. Law: after `decode` an object has only fields of its kind, each of
its type and in canonical form (quantities, times); nulls, empty lists and empty maps are absent, except what Go has
no way to leave out of a condition.
"""

import functools
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError, Cause, bad_request, invalid
from gpuyard_cluster.apiserver.kinds.kind_table import TABLE
from gpuyard_cluster.apiserver.kinds.scalars import SCALARS, Decoder, MismatchError, mismatch


def decode(obj: JSON, *, patched: bool = False) -> list[str]:
    """Bring a built-in object into its stored form, in place; the unknown fields that were dropped, as paths.

    A value of the wrong type is an ApiError: 400, or 422 when the object is the outcome of a patch. Of an object
    whose kind is not built in, only the metadata is decoded: its schema does the rest.
    """
    decoder = _root(f"{obj.get('apiVersion')}/{obj.get('kind')}")
    unknown: list[str] = []
    try:
        if decoder is not None:
            decoder(obj, unknown, "")
        elif "metadata" in obj:
            _decode_field(obj, "metadata", "V1ObjectMeta", unknown, "metadata")
    except MismatchError as error:
        raise _refusal(obj, str(error), patched) from error
    return unknown


def _refusal(obj: JSON, why: str, patched: bool) -> ApiError:
    kind, group_version = obj["kind"], obj["apiVersion"]
    if patched:
        return invalid("", "", [Cause("patch", "FieldValueInvalid", f"Invalid value: {why}")])
    version = str(group_version).rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {why}')


@functools.cache
def _table() -> JSON:
    table: JSON = orjson.loads(TABLE.read_bytes())
    return table


@functools.cache
def fields(type_name: str) -> dict[str, str]:
    """The fields of one type of the table and their types, as `kind_table` writes them."""
    found: dict[str, str] = _table()["types"][type_name]
    return found


def type_of(api_version: str, kind: str) -> str | None:
    """The table's name for a built-in kind; None for any other."""
    name: str | None = _table()["kinds"].get(f"{api_version}/{kind}")
    return name


@functools.cache
def _root(key: str) -> Decoder | None:
    name = _table()["kinds"].get(key)
    return None if name is None else _decoder(name)


@functools.cache
def _decoder(text: str) -> Decoder:
    if text in SCALARS:
        return SCALARS[text]
    if text.startswith("[]"):
        return _list_of(_decoder(text[2:]))
    if text.startswith("{}"):
        return _map_of(_decoder(text[2:]), _EMPTY.get(text[2:]))
    if text.startswith("bool|"):
        return _bool_or(_decoder(text.removeprefix("bool|")))
    return _struct(text)


def _bool_or(inner: Decoder) -> Decoder:
    return lambda value, unknown, path: value if isinstance(value, bool) else inner(value, unknown, path)


def _struct(type_name: str) -> Decoder:
    known = fields(type_name)
    filled = {key: _EMPTY.get(text) for key, text in known.items() if key in _CONDITION}
    filled = filled if type_name.endswith("Condition") else {}

    def decode_struct(value: Any, unknown: list[str], path: str) -> Any:
        if not isinstance(value, dict):
            raise mismatch(path, "an object", value)
        for key in list(value):
            _decode_field(value, key, known.get(key), unknown, f"{path}.{key}" if path else key)
        for key, empty in filled.items():
            value.setdefault(key, empty)
        return value

    return decode_struct


def _decode_field(owner: JSON, key: str, type_text: str | None, unknown: list[str], path: str) -> None:
    if type_text is None:
        unknown.append(path)
        del owner[key]
        return
    value = owner[key]
    if value is not None:
        owner[key] = value = _decoder(type_text)(value, unknown, path)
    if value is None or (type_text[0] in "[{" and not value):
        del owner[key]


_CONDITION = frozenset(
    {"type", "status", "lastProbeTime", "lastTransitionTime", "lastHeartbeatTime", "lastUpdateTime"}
)
"""Fields that every condition has, set or not: as owners of an object's fields see it, they are there."""
_EMPTY = {"string": "", "quantity": "0"}
"""What Go makes of a null, by type; a time stays null."""


def _list_of(inner: Decoder) -> Decoder:
    def decode_list(value: Any, unknown: list[str], path: str) -> Any:
        if not isinstance(value, list):
            raise mismatch(path, "a list", value)
        return [inner(item, unknown, f"{path}[{index}]") for index, item in enumerate(value)]

    return decode_list


def _map_of(inner: Decoder, empty: str | None) -> Decoder:
    def decode_map(value: Any, unknown: list[str], path: str) -> Any:
        if not isinstance(value, dict):
            raise mismatch(path, "a map", value)
        known = {key: empty if item is None else item for key, item in value.items()}
        return {key: inner(item, unknown, f"{path}.{key}") for key, item in known.items() if item is not None}

    return decode_map
