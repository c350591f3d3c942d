"""What the plugin has done, counted since it started.

Law: plain numbers that the cores count up; how they are told, and to whom, is the matter of `metrics`.
"""

import enum
from collections import Counter
from dataclasses import dataclass, field


class Outcome(enum.StrEnum):
    """What became of an Allocate, for each container."""

    AS_PLANNED = "as_planned"
    NOT_AS_PLANNED = "not_as_planned"
    """The kubelet chose other ids."""
    UNPLANNED = "unplanned"
    """The pod was bound past the extender, or there was no telling which it is."""
    REFUSED = "refused"

    @classmethod
    def of(cls, ids: tuple[str, ...], plan: tuple[str, ...]) -> "Outcome":
        """Of ids that were given."""
        if not plan:
            return cls.UNPLANNED
        return cls.AS_PLANNED if set(plan) == set(ids) else cls.NOT_AS_PLANNED


@dataclass(slots=True)
class Tally:
    allocations: Counter[str] = field(default_factory=Counter)
    """By `Outcome`."""
    registrations: Counter[str] = field(default_factory=Counter)
    """With the kubelet, by resource."""
