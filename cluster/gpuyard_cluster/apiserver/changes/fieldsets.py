"""Sets of fields, in the form that managedFields keep them: FieldsV1.

Stands for `fieldpath.Set` of structured-merge-diff. A set is a tree of path elements: `f:NAME` a field,
`k:{...}` a list item by its keys, `v:VALUE` an item of a set. An inner node is itself in the set where it holds `.`;
a node without children always is. The root is never in the set, so `{}` is the empty set. Law: no function changes
its arguments, and results may share parts with them.
"""

from collections.abc import Iterator
from typing import Any

import orjson

Fields = dict[str, Any]
SELF = "."


def _holds_itself(node: Fields) -> bool:
    return not node or SELF in node


def _node(itself: bool, children: Fields) -> Fields | None:
    """A node, or None where nothing of it is in the set."""
    if not children:
        return {} if itself else None
    return {SELF: {}, **children} if itself else children


def _children(node: Fields) -> Iterator[tuple[str, Fields]]:
    return ((name, child) for name, child in node.items() if name != SELF)


def union(one: Fields, other: Fields) -> Fields:
    """Paths in either set."""
    merged = dict(one)
    for name, node in _children(other):
        merged[name] = _union_node(one[name], node) if name in one else node
    return merged


def _union_node(one: Fields, other: Fields) -> Fields:
    children = union({name: node for name, node in one.items() if name != SELF}, other)
    return _node(_holds_itself(one) or _holds_itself(other), children) or {}


def difference(one: Fields, other: Fields) -> Fields:
    """Paths in `one` that are not in `other`."""
    left: Fields = {}
    for name, node in _children(one):
        kept = _difference_node(node, other[name]) if name in other else node
        if kept is not None:
            left[name] = kept
    return left


def _difference_node(one: Fields, other: Fields) -> Fields | None:
    return _node(_holds_itself(one) and not _holds_itself(other), difference(one, other))


def intersection(one: Fields, other: Fields) -> Fields:
    """Paths in both sets."""
    shared: Fields = {}
    for name, node in _children(one):
        if name not in other:
            continue
        kept = _node(_holds_itself(node) and _holds_itself(other[name]), intersection(node, other[name]))
        if kept is not None:
            shared[name] = kept
    return shared


def abandoned(before: Fields, kept: Fields) -> Fields:
    """The topmost paths of `before` at and below which `kept` has nothing: a tree whose leaves are those paths."""
    found: Fields = {}
    for name, node in _children(before):
        if name not in kept:
            found[name] = {}
        elif below := abandoned(node, kept[name]):
            found[name] = below
    return found


def paths(fields: Fields, prefix: str = "") -> Iterator[str]:
    """Every path in the set as messages show it: `.spec.containers[name="main"].image`."""
    for name, node in _children(fields):
        path = prefix + _shown(name)
        if _holds_itself(node):
            yield path
        yield from paths(node, path)


def _shown(element: str) -> str:
    kind, _, text = element.partition(":")
    if kind == "k":
        pairs = (f"{key}={orjson.dumps(value).decode()}" for key, value in sorted(orjson.loads(text).items()))
        return f"[{','.join(pairs)}]"
    return f"[={text}]" if kind == "v" else f".{text}"


def well_formed(fields: Any) -> bool:
    """Whether a value that came from outside is a tree of path elements."""
    if not isinstance(fields, dict):
        return False
    return all(_element(name) and well_formed(node) for name, node in fields.items())


def _element(name: str) -> bool:
    if name[:2] not in ("k:", "v:"):
        return name == SELF or name.startswith("f:")
    try:
        value = orjson.loads(name[2:])
    except orjson.JSONDecodeError:
        return False
    return name[0] == "v" or isinstance(value, dict)
