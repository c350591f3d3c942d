"""The JSON paths of printer columns: fields, indices, slices, wildcards and filters by equality.

Stands for the part of `k8s.io/client-go/util/jsonpath` that CustomResourceDefinitions use. Law: a path that
leads nowhere, or that cannot be read, finds nothing.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

_STEP = re.compile(
    r"""\.?(?:
      \[\?\(\s*@(?P<field>[^=!\s]*)\s*(?P<operator>==|!=)\s*(?P<value>"[^"]*"|'[^']*'|[^)\s]+)\s*\)\]
    | \[(?P<index>-?\d+|\*)\]
    | \[(?P<slice>(?:-?\d+)?:(?:-?\d+)?(?::\d+)?)\]
    | \[(?P<quoted>'[^']*'|"[^"]*")\]
    | (?P<name>(?:\\.|[^.\[\\])+)
    )""",
    re.VERBOSE,
)


def find(obj: Any, path: str) -> list[Any]:
    """What lies at a path such as `.status.conditions[?(@.type=="Ready")].status`, in order."""
    found, at, text = [obj], 0, path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    while at < len(text) and text[at:] != ".":
        step = _STEP.match(text, at)
        if step is None:
            return []
        found = [below for value in found for below in _below(value, step)]
        at = step.end()
    return found


def _below(value: Any, step: re.Match[str]) -> Iterator[Any]:
    if step["operator"] is not None:
        yield from (item for item in _items(value) if _passes(item, step))
    elif step["index"] == "*" or step["name"] == "*":
        yield from _items(value)
    elif step["index"] is not None:
        at = int(step["index"])
        if isinstance(value, list) and -len(value) <= at < len(value):
            yield value[at]
    elif step["slice"] is not None:
        yield from _slice(value, step["slice"]) if isinstance(value, list) else ()
    else:
        name = step["quoted"][1:-1] if step["quoted"] else re.sub(r"\\(.)", r"\1", step["name"])
        if isinstance(value, dict) and name in value:
            yield value[name]


def _slice(items: list[Any], text: str) -> list[Any]:
    """The items from start to end; none where the start lies before the first."""
    start, end, every = (int(part) if part else None for part in f"{text}:".split(":")[:3])
    return [] if every == 0 or (start or 0) < -len(items) else items[start:end:every]


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _passes(item: Any, step: re.Match[str]) -> bool:
    wanted = _literal(step["value"])
    equal = any(type(value) is type(wanted) and value == wanted for value in find(item, step["field"]))
    return equal is (step["operator"] == "==")


def _literal(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
