"""Times as they stand in Kubernetes objects: RFC 3339, UTC.

Stands for `k8s.io/apimachinery/pkg/apis/meta/v1.Time` and MicroTime.
"""

import datetime
from typing import Any, Final

LATEST: Final = 253_402_300_799
"""The end of the year 9999: later ones have no text, nor those before 1970 here. Users may ask for 2^63-1 s."""


def rfc3339(now: float) -> str:
    """Seconds since the epoch -> "2026-01-31T12:00:00Z"; a fraction is cut off."""
    return f"{_date(now):%Y-%m-%dT%H:%M:%SZ}"


def rfc3339_micro(now: float) -> str:
    """The same with microseconds, as Leases have it."""
    return f"{_date(now):%Y-%m-%dT%H:%M:%S.%fZ}"


def _date(now: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(max(0, min(now, LATEST)), datetime.UTC)


def seconds(timestamp: Any) -> float | None:
    """Seconds since the epoch; None where it is no timestamp."""
    try:
        return datetime.datetime.fromisoformat(timestamp).timestamp()
    except (TypeError, ValueError):
        return None
