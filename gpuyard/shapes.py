"""Of which shape the fields of a stranger's Kubernetes object are, before anybody looks deeper.

Stands for the structural part of API validation, where no API server has done it. Law: the first field that is of
another shape is named; what is absent or null is for the reader to judge.
"""

import enum
import re
from collections.abc import Mapping
from typing import Any, Final

_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
NAME: Final = re.compile(rf"(?=.{{1,253}}\Z){_PART}(\.{_PART})*")
"""Of an object, which becomes a part of a path: anything else could lead elsewhere."""

_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


class Shape(enum.StrEnum):
    """What a field has to be, as people are told."""

    OBJECT = "an object is needed"
    LIST = "a list of objects is needed"
    TEXTS = "an object of texts is needed"

    def fits(self, found: Any) -> bool:
        if self is Shape.LIST:
            return isinstance(found, list) and all(isinstance(one, dict) for one in found)
        if not isinstance(found, dict):
            return False
        return self is Shape.OBJECT or all(isinstance(text, str) for text in found.values())


def is_key(text: str) -> bool:
    """Whether a label or a resource can be called so: `example.com/name`, or without what stands before the slash."""
    prefix, slash, name = text.rpartition("/")
    return bool(_WORD.fullmatch(name) and (not slash or NAME.fullmatch(prefix)))


def is_label_value(text: str) -> bool:
    """Whether a label can have this value, as a node's name has to be, for `kubernetes.io/hostname`."""
    return not text or bool(_WORD.fullmatch(text))


def fault(obj: Any, shapes: Mapping[str, Shape]) -> str:
    """`.FIELD: what is needed` of the first that is not so, by its dotted path; empty when all are."""
    if not isinstance(obj, dict):
        return f": {Shape.OBJECT}"
    for path, shape in shapes.items():
        found: Any = obj
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        if found is not None and not shape.fits(found):
            return f".{path}: {shape}"
    return ""
