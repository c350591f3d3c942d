"""How long ago something was, as kubectl shows it.

Stands for `k8s.io/apimachinery/pkg/util/duration.HumanDuration`.
"""

from typing import Any

from gpuyard_kube.timestamps import seconds

MINUTE, HOUR, DAY = 60, 3600, 86400
UNKNOWN, INVALID = "<unknown>", "<invalid>"


def age(timestamp: Any, now: float) -> str:
    """The time from an RFC 3339 timestamp to `now` (seconds since the epoch)."""
    moment = seconds(timestamp)
    return UNKNOWN if moment is None else duration(now - moment)


def duration(elapsed: float) -> str:
    """A number of seconds in one or two units: `90s`, `5m30s`, `3h`, `2d4h`, `1y20d`."""
    if elapsed <= -2:
        return INVALID
    total = max(int(elapsed), 0)
    if total < 2 * MINUTE:
        return f"{total}s"
    if total < 10 * MINUTE:
        return _two(total, MINUTE, "m", 1, "s")
    if total < 3 * HOUR:
        return f"{total // MINUTE}m"
    if total < 8 * HOUR:
        return _two(total, HOUR, "h", MINUTE, "m")
    if total < 2 * DAY:
        return f"{total // HOUR}h"
    if total < 8 * DAY:
        return _two(total, DAY, "d", HOUR, "h")
    if total < 2 * 365 * DAY:
        return f"{total // DAY}d"
    if total < 8 * 365 * DAY:
        return _two(total, 365 * DAY, "y", DAY, "d")
    return f"{total // (365 * DAY)}y"


def _two(total: int, unit: int, letter: str, smaller: int, smaller_letter: str) -> str:
    whole, rest = total // unit, total % unit // smaller
    return f"{whole}{letter}{rest}{smaller_letter}" if rest else f"{whole}{letter}"
