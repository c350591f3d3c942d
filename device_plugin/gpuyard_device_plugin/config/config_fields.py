"""Fields of a decoded config file: each is read with its path, and what nobody knows is an error.

Stands for the decoding half of NVIDIA's api/config/v1. Law: a key is understood, or named as one without a meaning
for GPUs that do not exist, or refused. NVIDIA drops unknown keys in silence, and with them every slip of the pen.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any


class InvalidConfigError(Exception):
    """The configuration cannot be used. `field` is a path such as sharing.mps.resources[0].replicas."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field, self.problem, self.remedy = field, problem, remedy


def mapping(found: Any, field: str, known: Collection[str]) -> Mapping[str, Any]:
    """A mapping with no other keys than `known`; nothing at all is an empty one. `field` is "" for the whole file."""
    if found is None:
        return {}
    if not isinstance(found, dict):
        remedy = "see NVIDIA's config file, version v1"
        raise InvalidConfigError(field or "config", f"{found!r} is not a mapping", remedy)
    for key in found:
        if key not in known:
            raise InvalidConfigError(
                join(field, key), "unknown field", f"known are {', '.join(sorted(known))}"
            )
    return found


def join(field: str, key: Any) -> str:
    return f"{field}.{key}" if field else str(key)


def flag(found: Mapping[str, Any], key: str, field: str, *, default: bool) -> bool:
    value = found.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InvalidConfigError(join(field, key), f"{value!r} is not true or false", "write true or false")
    return value


def text(found: Mapping[str, Any], key: str, field: str, default: str) -> str:
    value = found.get(key)
    if value is None:
        return default
    if not isinstance(value, str) or not value:
        raise InvalidConfigError(join(field, key), f"{value!r} is not a text", f"write it as {default}")
    return value


def one_of(value: Any, field: str, known: Iterable[str]) -> str:
    """`value`, if it is among the known ones."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise InvalidConfigError(field, f"{value!r} is unknown", f"use {', '.join(names)}")
    return value
