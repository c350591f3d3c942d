"""Protobuf bodies: since 1.32 kubectl's typed commands send nothing else, and give up when they are not understood.

Stands for `k8s.io/apimachinery/pkg/runtime/serializer/protobuf`. The kinds that kubectl makes by itself are known
(`protobuf_fields`); all others are refused with the way around.
"""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError, bad_request
from gpuyard_cluster.apiserver.wire.protobuf_fields import KINDS, MESSAGES

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def decode(body: bytes) -> JSON:
    """The object in a body, as JSON would have it. ApiError: 400 when it is malformed, 415 for other kinds."""
    try:
        unknown = dict(_fields(body.removeprefix(_MAGIC)))
        envelope = dict(_fields(unknown.get(1, b"")))
        api_version, kind = (envelope.get(number, b"").decode() for number in (1, 2))
        if kind not in KINDS:
            raise _unknown(f"a {kind} of {api_version}")
        return {"kind": kind, "apiVersion": api_version, **_message(unknown.get(2, b""), kind)}
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        raise bad_request(f"the body is no Kubernetes protobuf: {error}") from error


def _unknown(what: str) -> ApiError:
    message = (
        f"the embedded API server does not take {what} in protobuf; with kubectl, send it as JSON: "
        "add `--dry-run=client -o yaml | kubectl apply -f -`"
    )
    return ApiError(415, "UnsupportedMediaType", message)


def _message(data: bytes, name: str) -> JSON:
    known, found = MESSAGES[name], JSON()
    for number, value in _fields(data):
        if number not in known:
            raise _unknown(f"field {number} of {name}")
        field, kind = known[number]
        if kind.startswith("[]"):
            found.setdefault(field, []).append(_value(value, kind[2:]))
        elif kind.startswith("{}"):
            entry = dict(_fields(value))
            found.setdefault(field, {})[entry[1].decode()] = _value(entry.get(2, b""), kind[2:])
        elif (decoded := _value(value, kind)) not in (
            "",
            {},
            None,
        ):  # Go writes empty fields, JSON leaves them out
            found[field] = decoded
    return found


def _value(value: Any, kind: str) -> Any:
    match kind:
        case "string":
            return value.decode()
        case "bytes":
            return base64.b64encode(value).decode()
        case "int":
            return value - (1 << 64) if value >> 63 else value
        case "bool":
            return bool(value)
        case "time":
            seconds = dict(_fields(value)).get(1)
            return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
        case "number or text":
            parts = dict(_fields(value))
            return parts[3].decode() if parts.get(1) else parts.get(2, 0)
        case _:
            return _message(value, kind)


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
