"""What one line of a trace says beside what is asked for: when the pod came and went, and with whom it belongs.

Times are those of the openb traces, whole seconds since any moment. The columns `gang`, `queue`, `priority` and
`mig_profile` are ours; where there is no queue, the openb `qos` stands for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Lifetime:
    """`runs`: seconds from being scheduled to being deleted; None where the trace does not say."""

    created: int
    runs: int | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """Pods with one `gang` start together or not at all; of those who wait the highest priority comes first."""

    gang: str = ""
    queue: str = ""
    priority: int = 0


ALONE: Final = Membership()


def amount(row: Mapping[str, str], key: str) -> int:
    """ValueError where the cell is no whole number."""
    if not row[key].isdecimal() or len(row[key]) > _DIGITS:
        raise ValueError(f"{key} is {row[key][:40]!r}, which is no whole number up to {_DIGITS} digits")
    return int(row[key])


def lifetime(row: Mapping[str, str]) -> Lifetime | None:
    """None where the trace has no times. ValueError for times that cannot be."""
    if not row.get("creation_time"):
        return None
    created = amount(row, "creation_time")
    if not row.get("scheduled_time") or not row.get("deletion_time"):
        return Lifetime(created)
    scheduled, deleted = amount(row, "scheduled_time"), amount(row, "deletion_time")
    if deleted < scheduled:
        raise ValueError(f"deletion_time is {deleted}, before scheduled_time {scheduled}")
    return Lifetime(created, deleted - scheduled)


def membership(row: Mapping[str, str]) -> Membership:
    """ValueError for a priority that is no whole number."""
    priority = row.get("priority") or "0"
    if not priority.removeprefix("-").isdecimal() or len(priority) > _DIGITS:
        raise ValueError(f"priority is {priority[:40]!r}, which is no whole number")
    return Membership(row.get("gang") or "", row.get("queue") or row.get("qos") or "", int(priority))
