"""The scalars of Kubernetes' typed decoder: each checks one JSON value and gives its stored form.

Stands for the decoders of `metav1.Time`, `metav1.MicroTime`, `resource.Quantity` and base64 fields.
"""

import binascii
import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from gpuyard.pods.quantities import canonical
from gpuyard_cluster.apiserver.rules.causes import shown

Decoder = Callable[[Any, list[str], str], Any]
"""(value, unknown fields found so far, path of the value) -> the stored value; MismatchError for a wrong type."""

_MICROTIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class MismatchError(ValueError):
    """A value that does not fit its field; the message begins with the field."""


def mismatch(path: str, expected: str, value: Any) -> MismatchError:
    """The error for `value` at `path` where `expected` belongs."""
    return MismatchError(f"{path or 'the body'}: must be {expected}, not {shown(value)[:80]}")


def _plain(expected: str, *types: type) -> Decoder:
    def decode_plain(value: Any, _: list[str], path: str) -> Any:
        if type(value) not in types:
            raise mismatch(path, expected, value)
        return value

    return decode_plain


def _parsed(expected: str, parse: Callable[[Any], Any]) -> Decoder:
    """A scalar with a grammar of its own: `parse` gives its canonical form, or a ValueError."""

    def decode_parsed(value: Any, _: list[str], path: str) -> Any:
        try:
            return parse(value)
        except ValueError as error:
            raise mismatch(path, expected, value) from error

    return decode_parsed


# Thousands of pods ask for the same few amounts.
_canonical = functools.lru_cache(maxsize=8192)(canonical)


def _quantity(value: Any) -> str:
    return _canonical(value) if isinstance(value, str) else canonical(value)


def _integer(value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError(value)
    return value


def _time(value: Any) -> str:
    return f"{_moment(value, _TIME):%Y-%m-%dT%H:%M:%SZ}"


def _microtime(value: Any) -> str:
    return f"{_moment(value, _MICROTIME):%Y-%m-%dT%H:%M:%S.%fZ}"


def _moment(value: Any, syntax: re.Pattern[str]) -> datetime:
    if not isinstance(value, str) or not syntax.fullmatch(value):
        raise ValueError(value)
    return datetime.fromisoformat(value).astimezone(UTC)


def _bytes(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    text = value.replace("\r", "").replace("\n", "")
    binascii.a2b_base64(text, strict_mode=True)
    return text


SCALARS: dict[str, Decoder] = {
    "any": lambda value, _walk, _path: value,
    "string": _plain("a string", str),
    "int": _parsed("a 64-bit integer", _integer),
    "number": _plain("a number", int, float),
    "bool": _plain("true or false", bool),
    "time": _parsed("an RFC 3339 time such as 2026-01-02T03:04:05Z", _time),
    "microtime": _parsed("a time with microseconds such as 2026-01-02T03:04:05.000000Z", _microtime),
    "quantity": _parsed("a quantity such as 500m, 2 or 1Gi", _quantity),
    "bytes": _parsed("base64", _bytes),
}
