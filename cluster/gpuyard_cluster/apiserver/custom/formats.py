"""What the `format` of a schema demands.

Stands for `k8s.io/kube-openapi/pkg/validation/strfmt`. A format that is not listed here is not checked, as there.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address, ip_network

_BITS = {"int32": 32}


def has_format(value: str, name: str) -> bool:
    """Whether a text has a format."""
    try:
        if name == "date-time":
            return "T" in value.upper() and datetime.fromisoformat(value).tzinfo is not None
        return name not in _FORMATS or bool(_FORMATS[name](value))
    except ValueError:
        return False


def in_range(value: float, name: str) -> bool:
    """Whether a number is whole and can be kept as an integer of a format: of 64 bits where that says nothing."""
    half = 1 << _BITS.get(name, 64) - 1
    return value % 1 == 0 and -half <= value < half


_FORMATS: dict[str, Callable[[str], object]] = {
    "cidr": lambda text: "/" in text and ip_network(text, strict=False),
    "date": date.fromisoformat,
    "email": re.compile(r"[^@\s]+@[^@\s]+").fullmatch,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "uuid": re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}").fullmatch,
}
"""Formats that are checked, beside date-time: a ValueError or nothing means no."""
