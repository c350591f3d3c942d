"""Protobuf bodies: since 1.32 kubectl's typed commands send nothing else, and give up when they are not understood.

Stands for `k8s.io/apimachinery/pkg/runtime/serializer/protobuf`. Known are the kinds and fields of `protobuf_table`;
all others are refused with the way around. Law: the result is what the same client would have sent as JSON: Go writes
every field that is no pointer, JSON leaves out those that are empty.
"""

import base64
import functools
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError, bad_request
from gpuyard_cluster.apiserver.wire.protobuf_table import TABLE
from gpuyard_kube.timestamps import rfc3339

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@functools.cache
def table() -> JSON:
    """What `protobuf_table` wrote: kinds and messages."""
    found: JSON = orjson.loads(TABLE.read_bytes())
    return found


def decode(body: bytes) -> JSON:
    """The object in a body, as JSON would have it. ApiError: 400 when it is malformed, 415 for other kinds."""
    try:
        unknown = dict(_fields(body.removeprefix(_MAGIC)))
        envelope = dict(_fields(unknown.get(1, b"")))
        api_version, kind = (envelope.get(number, b"").decode() for number in (1, 2))
        # DeleteOptions come in the version of whatever is deleted.
        message = table()["kinds"].get(kind if kind == "DeleteOptions" else f"{api_version}/{kind}")
        if message is None:
            raise _unknown(f"a {kind} of {api_version}")
        return {"kind": kind, "apiVersion": api_version, **_message(unknown.get(2, b""), message)}
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        raise bad_request(f"the body is no Kubernetes protobuf: {error}") from error


def _unknown(what: str) -> ApiError:
    message = (
        f"the embedded API server does not take {what} in protobuf; with kubectl, send it as JSON: "
        "add `--dry-run=client -o yaml | kubectl apply -f -`"
    )
    return ApiError(415, "UnsupportedMediaType", message)


def _message(data: bytes, name: str) -> JSON:
    known, found = table()["messages"][name], JSON()
    for number, value in _fields(data):
        if str(number) not in known:
            raise _unknown(f"field {number} of {name}")
        field, kind = known[str(number)]
        if not field:
            found |= _value(value, kind)
        elif kind.startswith("[]"):
            found.setdefault(field, []).append(_value(value, kind[2:]))
        elif kind.startswith("{}"):
            entry = dict(_fields(value))
            found.setdefault(field, {})[entry.get(1, b"").decode()] = _value(entry.get(2, b""), kind[2:])
        elif (decoded := _value(value, kind.lstrip("*"))) or kind.startswith("*"):
            found[field] = decoded
    return found


def _value(value: Any, kind: str) -> Any:
    decode_scalar = _SCALARS.get(kind)
    return _message(value, kind) if decode_scalar is None else decode_scalar(value)


def _time(value: bytes) -> str | None:
    seconds = dict(_fields(value)).get(1)
    return None if seconds is None else rfc3339(seconds)


def _microtime(value: bytes) -> str | None:
    parts, whole = dict(_fields(value)), _time(value)
    return whole and f"{whole[:-1]}.{parts.get(2, 0) // 1000:06}Z"


def _number_or_text(value: bytes) -> Any:
    parts = dict(_fields(value))
    return parts[3].decode() if parts.get(1) else parts.get(2, 0)


def _first(value: bytes) -> bytes:
    """The one field of a message that wraps something."""
    found: bytes = dict(_fields(value)).get(1, b"")
    return found


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "string": lambda value: value.decode(),
    "bytes": lambda value: base64.b64encode(value).decode(),
    "int": lambda value: value - (1 << 64) if value >> 63 else value,
    "bool": bool,
    "time": _time,
    "microtime": _microtime,
    "number or text": _number_or_text,
    "quantity": lambda value: _first(value).decode() or "0",
    "raw": lambda value: orjson.loads(_first(value) or b"null"),
    "texts": lambda value: [text.decode() for _, text in _fields(value)],
}


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: their numbers with an integer or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        size, at = {_FIXED64: (8, at), _FIXED32: (4, at)}.get(wire) or _size(data, at, wire)
        if at + size > len(data):
            raise ValueError("it ends within a field")
        yield number, data[at : at + size]
        at += size


def _size(data: bytes, at: int, wire: int) -> tuple[int, int]:
    if wire != _BYTES:
        raise ValueError(f"wire type {wire}")
    return _varint(data, at)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
