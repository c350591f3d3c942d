"""Bodies: JSON and YAML in and out, duplicate fields, compression.

Stands for the serializers of `k8s.io/apimachinery` and `sigs.k8s.io/yaml`. Law: whatever is decoded is plain JSON:
its keys are strings, its times stay text, no two parts of it are one object.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import Any

import orjson
import yaml

from gpuyard_cluster.apiserver.errors import ApiError, bad_request
from gpuyard_cluster.apiserver.wire import protobuf

JSON_TYPE, YAML_TYPE = "application/json", "application/yaml"
GZIP_THRESHOLD = 128 * 1024
"""Bytes from which kube-apiserver compresses a response."""
MAX_DEPTH = 150
"""Levels of objects and lists in one another; kube-apiserver takes 10,000, but no client sends more than some 20."""
_ENCODABLE = 254
"""The levels that orjson encodes: an object at this limit would break every list that it is in."""
_MOST_VALUES = 1_000_000
"""Values that a YAML body may expand to through aliases."""


@dataclass(frozen=True, slots=True)
class Body:
    """A decoded body, and the fields that it has twice (the last counts), as paths such as `data.x`."""

    value: Any
    duplicates: tuple[str, ...] = ()


def decode(body: bytes, content_type: str) -> Body:
    """The value in a body. Raises ApiError: 400 when it is malformed, 415 for other media types."""
    if content_type == YAML_TYPE:
        return _decode_yaml(body)
    if content_type == JSON_TYPE:
        return _decode_json(body)
    if content_type == protobuf.MEDIA_TYPE:
        return Body(protobuf.decode(body))
    accepted = "application/json, application/yaml"
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    raise ApiError(415, "UnsupportedMediaType", message)


def check_depth(value: Any) -> None:
    """ApiError 400 for a value that is nested too deeply for code that walks it, or puts it into a list."""
    try:
        orjson.dumps(reduce(lambda inner, _: [inner], range(_ENCODABLE - MAX_DEPTH), value))
    except TypeError as error:
        message = f"the body is nested too deeply: at most {MAX_DEPTH} levels of objects and lists are taken"
        raise bad_request(message) from error


def to_yaml(value: Any) -> bytes:
    """A JSON value as YAML, keys in order."""
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=False, allow_unicode=True)
    return text.encode()


def compressed(body: bytes, accept_encoding: str) -> bytes | None:
    """The body in gzip, or None where it is too small or the client does not take it."""
    if len(body) < GZIP_THRESHOLD or "gzip" not in (token.strip() for token in accept_encoding.split(",")):
        return None
    return gzip.compress(body, compresslevel=1, mtime=0)


def _decode_json(body: bytes) -> Body:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        check_depth(value)
    # A field that comes twice is lost, and with it the quotes around it; no other body loses quotes.
    if b"\\u0022" not in body and body.count(b'"') == orjson.dumps(value).count(b'"'):
        return Body(value)
    return Body(value, tuple(_duplicates(json.loads(body, object_pairs_hook=_Pairs), "")))


class _Pairs(list[tuple[Any, Any]]):
    """A JSON or YAML object with all its fields, repeated ones too."""


def _duplicates(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        counts = Counter(name for name, _ in value)
        for name, below in value:
            where = f"{path}.{name}" if path else str(name)
            if counts.pop(name, 1) > 1:
                yield where
            yield from _duplicates(below, where)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _duplicates(item, f"{path}[{at}]")


_SAFE_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE_LOADER):  # type: ignore[misc]  # the base is chosen when the module is loaded
    """YAML as Kubernetes reads it: times and sexagesimal numbers are text, objects keep their repeated fields."""

    yaml_implicit_resolvers = {
        first: [
            (tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":int", ":float"))
        ]
        for first, resolvers in _SAFE_LOADER.yaml_implicit_resolvers.items()
    }

    def pairs(self, node: yaml.MappingNode) -> _Pairs:
        self.flatten_mapping(node)
        return _Pairs(
            (_key(self.construct_object(key, deep=True)), self.construct_object(value, deep=True))
            for key, value in node.value
        )


class _Dumper(_SAFE_DUMPER):  # type: ignore[misc]  # as above
    """YAML with quotes around every text that Kubernetes, or another reader, would take for something else."""


_INT = re.compile(r"[-+]?(0|[1-9][0-9_]*|0o?[0-7_]+|0b[01_]+|0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(r"[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$")
for _reader_or_writer in (_Loader, _Dumper):
    _reader_or_writer.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
    _reader_or_writer.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _Loader.pairs)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else orjson.dumps(key).decode()


def _decode_yaml(body: bytes) -> Body:
    try:
        loaded = yaml.load(body, Loader=_Loader)
        expanded = sum(1 for _ in islice(_values(loaded), _MOST_VALUES)) if b"*" in body else 0
        if expanded == _MOST_VALUES:
            raise ValueError("document contains excessive aliasing")
        value = _plain(loaded)
        orjson.dumps(value)  # JSON has no numbers beyond 64 bits and no lone surrogates
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise bad_request(f"error converting YAML to JSON: {error}") from error
    check_depth(value)
    return Body(value, tuple(_duplicates(loaded, "")))


def _values(value: Any) -> Iterator[Any]:
    """A value and everything in it, aliased parts each time they are met."""
    yield value
    if isinstance(value, _Pairs):
        for _, below in value:
            yield from _values(below)
    elif isinstance(value, list):
        for below in value:
            yield from _values(below)


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _plain(below) for key, below in value}
    if isinstance(value, list):
        return [_plain(below) for below in value]
    # JSON has one kind of number: 1e3 is the integer 1000, as it is in Go's JSON.
    return int(value) if isinstance(value, float) and int(value) == value and abs(value) < 2**53 else value
