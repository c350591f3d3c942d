"""Of which shape the fields of a stranger's Kubernetes object are, before anybody looks deeper.

Stands for the structural part of API validation, where no API server has done it. Law: the first field that is of
another shape is named; what is absent or null is for the reader to judge.
"""

import enum
import re
from collections.abc import Mapping
from typing import Any, Final

NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
"""Of an object, which becomes a part of a path: anything else could lead elsewhere."""


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
