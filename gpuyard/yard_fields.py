"""Reading a document that a person wrote: every value is checked, every complaint names its field and the remedy."""

import reprlib
from collections.abc import Collection, Mapping
from typing import Any, Final

from gpuyard.pods import quantities

_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 100


class InvalidYardError(ValueError):
    """The document cannot be used: `field` is where, such as `nodes[0].gpus.count`; `remedy` what to write."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


def short(found: Any) -> str:
    """A value as a complaint shows it: with YAML's aliases a few lines can stand for gigabytes."""
    return _SHORT.repr(found)


def mapping(
    found: Any, field: str, known: Collection[str], required: Collection[str] = ()
) -> Mapping[str, Any]:
    """A mapping with known keys only. None counts as empty."""
    entries = plain_mapping(found, field)
    for key in entries:
        if key not in known:
            raise InvalidYardError(f"{field}.{key}", "unknown key", f"use {', '.join(sorted(known))}")
    for key in required:
        if entries.get(key) is None:
            raise InvalidYardError(f"{field}.{key}", "is missing", "add it")
    return entries


def plain_mapping(found: Any, field: str) -> Mapping[str, Any]:
    """A mapping with any text as keys. None counts as empty."""
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidYardError(field, f"{short(found)} is not a mapping", "write key: value pairs")
    for key in found:
        if not isinstance(key, str):
            raise InvalidYardError(field, f"the key {key!r} is not a text", "put it in quotes")
    return found


def sequence(found: Any, field: str) -> list[Any]:
    """A list. None counts as empty."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise InvalidYardError(field, f"{short(found)} is not a list", "write - items")
    return found


def text(found: Any, field: str) -> str:
    if not isinstance(found, str) or not found:
        raise InvalidYardError(field, f"{short(found)} is not a text", "put it in quotes")
    return found


def whole(found: Any, field: str) -> int:
    """An integer of at least 0."""
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InvalidYardError(field, f"{short(found)} is not a count", "write a whole number, 0 or more")
    return found


def quantity(found: Any, field: str) -> str:
    """The text of a Kubernetes quantity of at least 0."""
    try:
        negative = quantities.parse(found).nano < 0
    except ValueError as error:
        raise InvalidYardError(field, str(error), "write a quantity such as 64 or 512Gi") from error
    if negative:
        raise InvalidYardError(field, f"{short(found)} is negative", "write a quantity such as 64 or 512Gi")
    return str(found)
