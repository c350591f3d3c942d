"""Kubernetes quantities ("500m", "1Gi", "8k"), exactly: integers of billionths, never a float.

Stands for `k8s.io/apimachinery/pkg/api/resource`. Law: finer than a billionth is rounded away from zero, more than
2^63-1 is cut to it, and one value in one notation has one canonical text, the one that the API server stores.
"""

import enum
import functools
import re
from dataclasses import dataclass

NANO = 10**9
"""Billionths in one unit."""
MAXIMUM = 2**63 - 1
LONGEST = 128
"""Characters of a quantity: thousands of them are remembered, and annotations may be of any length."""


class Notation(enum.Enum):
    """In which family of suffixes a quantity was written; its canonical text stays in that family."""

    DECIMAL = enum.auto()
    BINARY = enum.auto()
    EXPONENT = enum.auto()


_WRITTEN = (str, int, float)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_SYNTAX = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]{1,4}|[A-Za-z]{0,2})")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount. `nano` is in billionths."""

    nano: int
    notation: Notation = Notation.DECIMAL

    def __str__(self) -> str:
        if self.notation is Notation.BINARY and abs(self.nano) >= 1024 * NANO and self.nano % NANO == 0:
            return _binary_text(self.nano // NANO)
        return _decimal_text(self.nano, self.notation)

    @property
    def whole(self) -> int:
        """The amount in units; ValueError when it is not an integer."""
        units, rest = divmod(self.nano, NANO)
        if rest:
            raise ValueError(f"quantity {str(self)!r} must be an integer")
        return units

    @property
    def rounded_up(self) -> int:
        """The amount in units, a fraction rounded up: how kube-scheduler counts bytes."""
        return -(-self.nano // NANO)

    @property
    def milli(self) -> int:
        """The amount in thousandths, rounded up: how kube-scheduler counts CPU."""
        return -(-self.nano // 10**6)


def parse(text: str | int | float) -> Quantity:
    """The quantity of a text or JSON number; ValueError names the text."""
    if isinstance(text, bool) or not isinstance(text, _WRITTEN):
        raise ValueError(f"quantity {text!r:.40} must be a string or a number")
    written = str(text)
    if len(written) > LONGEST:
        raise ValueError(
            f"quantity {written!r:.40} is longer than {LONGEST} characters; write one such as 1Gi"
        )
    return _parse(written)


# Thousands of pods ask for the same few amounts.
@functools.lru_cache(maxsize=8192)
def _parse(text: str) -> Quantity:
    match = _SYNTAX.fullmatch(text.strip())
    if match is None or not (match[2] or match[3]):
        raise ValueError(
            f"quantity {text!r:.40} must be a number with an optional suffix, such as 500m, 2 or 1Gi"
        )
    sign, digits, fraction, suffix = match[1], match[2], match[3] or "", match[4]
    ten, two, notation = _scale(suffix, text)
    mantissa = int(digits + fraction or "0") << two
    nano = min(_shifted(mantissa, ten + 9 - len(fraction)), MAXIMUM * NANO)
    return Quantity(-nano if sign == "-" else nano, notation)


def canonical(text: str | int | float) -> str:
    """The one text that the API server stores: "8000" -> "8k", "0.5" -> "500m", "1024Mi" -> "1Gi"."""
    return str(parse(text))


def whole(text: str | int | float) -> int:
    """Units of a quantity that must be an integer, such as a count of GPUs; ValueError otherwise."""
    return parse(text).whole


def rounded_up(text: str | int | float) -> int:
    """Units of a quantity, a fraction rounded up: bytes of memory."""
    return parse(text).rounded_up


def milli(text: str | int | float) -> int:
    """Thousandths of a quantity, rounded up: CPU."""
    return parse(text).milli


def _scale(suffix: str, text: object) -> tuple[int, int, Notation]:
    """The powers of ten and of two that a suffix stands for."""
    if suffix in _BINARY:
        return 0, _BINARY[suffix], Notation.BINARY
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], 0, Notation.DECIMAL
    if suffix[1:].lstrip("+-").isdigit():
        return int(suffix[1:]), 0, Notation.EXPONENT
    raise ValueError(f"quantity {text!r:.40} has an unknown suffix {suffix!r}")


def _shifted(mantissa: int, power: int) -> int:
    """`mantissa` times ten to the `power`, rounded up."""
    scale: int = 10 ** abs(power)
    return mantissa * scale if power >= 0 else -(-mantissa // scale)


def _decimal_text(nano: int, notation: Notation) -> str:
    power = -9
    while nano and power < 18 and nano % 1000 == 0:
        nano, power = nano // 1000, power + 3
    if nano == 0 or power == 0:
        return str(nano)
    return f"{nano}e{power}" if notation is Notation.EXPONENT else f"{nano}{_DECIMAL_SUFFIX[power]}"


def _binary_text(units: int) -> str:
    best = ""
    for suffix in _BINARY:
        if units % 1024:
            break
        units, best = units // 1024, suffix
    return f"{units}{best}"
