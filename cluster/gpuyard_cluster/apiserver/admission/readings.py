"""Which parts of its variables an expression reads.

An admission policy looks at two or three fields of a pod. Law: an expression has the same value over the parts that
it reads as over the whole; what is not a plain path of field names (an index, a macro's variable) is read whole.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Path = tuple[str, ...]
"""A variable and the fields below it: ("object", "metadata", "labels")."""


def paths(tree: Any) -> frozenset[Path]:
    """The longest plain paths in a syntax tree of celpy, those of variables that macros bind among them."""
    own = _path(tree)
    if own:
        return frozenset({own})
    parts = [child for child in tree.children if hasattr(child, "children")]
    return frozenset[Path]().union(*(paths(part) for part in parts))


def parts_read(variables: Mapping[str, Any], read: Iterable[Path]) -> dict[str, Any]:
    """The variables, with nothing in them but what lies on or below the paths."""
    found: dict[str, Any] = {}
    for path in sorted(read):  # what is read whole comes before what is read in part
        _copy(variables, found, path)
    return found


def _path(tree: Any) -> Path:
    """The path that a tree is; empty when it is none."""
    if tree.data == "ident":
        return (str(tree.children[0]),)
    if tree.data == "member_dot":
        below = _path(tree.children[0])
        return (*below, str(tree.children[1])) if below else ()
    if tree.data in ("member", "primary") and len(tree.children) == 1 and hasattr(tree.children[0], "data"):
        return _path(tree.children[0])
    return ()


def _copy(source: Any, target: dict[str, Any], path: Path) -> None:
    name, rest = path[0], path[1:]
    if name not in source or (name in target and target[name] is source[name]):
        return
    part = source[name]
    if rest and isinstance(part, dict):
        _copy(part, target.setdefault(name, {}), rest)
    else:
        target[name] = part
