"""Writes `protobuf.json`: the field numbers of the built-in kinds, read from the Go modules that define them.

Stands for the generated `Unmarshal` functions of `k8s.io/api`. Run as a program with the directories of the modules
k8s.io/api and k8s.io/apimachinery of 1.36, wherever they lie, it rewrites the file; field numbers never change.

A field is written `number: [name, type]`: a scalar or a message, `[]` before what a list holds, `{}` before a map's
values, `*` before what is there only if somebody said so, also if it is empty. A field without a name is inline:
those of its message are fields of the one around it.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from gpuyard_cluster.apiserver.kinds.kind_table import served

TABLE = Path(__file__).with_name("protobuf.json")
Fields = dict[str, list[str]]

_MACHINERY = "k8s.io.apimachinery.pkg."
_META = f"{_MACHINERY}apis.meta.v1."
_SPECIAL = {
    f"{_META}Time": "time",
    f"{_META}MicroTime": "microtime",
    f"{_META}FieldsV1": "raw",
    f"{_MACHINERY}runtime.RawExtension": "raw",
    f"{_MACHINERY}util.intstr.IntOrString": "number or text",
    f"{_MACHINERY}api.resource.Quantity": "quantity",
}
"""Messages that are something else in JSON."""
_SCALARS = {"string": "string", "bytes": "bytes", "bool": "bool", "int32": "int", "int64": "int"}
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (?:map<string, ([\w.]+)>|(optional|repeated) ([\w.]+)) (\w+) = (\d+);", re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r'(\S+) +`json:"(\w*)[^`]* protobuf:"\w+,(\d+),')


def build(roots: list[Path]) -> dict[str, Any]:
    """`{"kinds": {"v1/Pod": message, ...}, "messages": {message: fields, ...}}`; KeyError where a module lacks."""
    known = dict(found for root in roots for found in messages(root))
    kinds = {f"{version}/{kind}": _package(version) + kind for version, kind in sorted(set(served()))}
    kinds = {key: name for key, name in kinds.items() if name in known} | {
        "DeleteOptions": f"{_META}DeleteOptions"
    }
    found: dict[str, Fields] = {}
    waiting = list(kinds.values())
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = known[name]
            types = (text.strip("[]{}*") for _, text in known[name].values())
            waiting += [text for text in types if "." in text]
    return {"kinds": kinds, "messages": dict(sorted(found.items()))}


def _package(group_version: str) -> str:
    group, _, version = group_version.rpartition("/")
    return f"k8s.io.api.{group.partition('.')[0] or 'core'}.{version}."


def messages(root: Path) -> Iterator[tuple[str, Fields]]:
    """Every message of a module by its full name."""
    for proto in root.rglob("generated.proto"):
        text = proto.read_text(encoding="utf-8")
        declared = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
        source = proto.with_name("types.go")
        if declared and source.exists():
            go = dict(_STRUCT.findall(source.read_text(encoding="utf-8")))
            for name, body in _MESSAGE.findall(text):
                yield f"{declared[1]}.{name}", _fields(body, go.get(name, ""), f"{declared[1]}.")


def _fields(proto: str, struct: str, package: str) -> Fields:
    """The fields of a message: their types from the protocol, names and which are pointers from the Go type."""
    tags = {number: (text, name) for text, name, number in _TAG.findall(struct)}
    found: Fields = {}
    for values, rule, plain, name, number in _FIELD.findall(proto):
        go, json_name = tags.get(number, ("", name))
        kind = _type(values or plain, package)
        prefix = "{}" if values else "[]" if rule == "repeated" else "*" if go.startswith("*") else ""
        found[number] = [json_name, prefix + kind]
    return found


def _type(text: str, package: str) -> str:
    if text in _SCALARS:
        return _SCALARS[text]
    full = text.removeprefix(".") if "." in text else package + text
    return "texts" if full.endswith(".ExtraValue") else _SPECIAL.get(full, full)


def encoded(table: dict[str, Any]) -> bytes:
    """A kind or message in each line."""
    parts = []
    for part, entries in table.items():
        lines = (orjson.dumps(name) + b": " + orjson.dumps(entry) for name, entry in entries.items())
        parts.append(orjson.dumps(part) + b": {\n" + b",\n".join(lines) + b"}")
    return b"{" + b",\n".join(parts) + b"}\n"


if __name__ == "__main__":
    TABLE.write_bytes(encoded(build([Path(argument) for argument in sys.argv[1:]])))
