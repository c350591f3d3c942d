"""What the extender tells of its answers, a line each: for the log, and for learners who step through a scenario."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Final

from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable
from gpuyard.preempting.stakes import Victims
from gpuyard_extender.scheduling import Filtered

_SHOWN: Final = 8
"""Node names in a line."""


def of_filter(pod: str, found: Filtered) -> str:
    """Who passes, and how many do not for what."""
    refused = "".join(f", {len(names)} × {reason}" for reason, names in sorted(found.rejected.items()))
    passed = _few(sorted(found.passed[:_SHOWN]), len(found.passed), ", ")
    return f"Filter {pod}: {passed or 'no node'} passes{refused}"


def of_prioritize(pod: str, ranks: Mapping[str, int]) -> str:
    """The order of the nodes."""
    return f"Score {pod}: {_few(ranks, len(ranks), ' > ')}"


def of_preempt(pod: str, found: Mapping[str, Victims]) -> str:
    """How many would go where."""
    offers = [f"{len(victims.uids)} on {name}" for name, victims in found.items()]
    return f"Preempt for {pod}: victims: {_few(offers, len(offers), ', ') or 'none that help'}"


def of_plan(request: PlanRequest, answer: PlanAnswer) -> str:
    """The places, or who has none; empty where nothing was decided."""
    match answer:
        case Planned(reservation):
            places = ", ".join(f"{seat.name} on {seat.node}" for seat in reservation.seats)
            leave = ", ".join(victim.name for victim in reservation.victims)
            return f"Plan {request.group}: {places}{f', once these are gone: {leave}' if leave else ''}"
        case Unplaceable(member, _):
            return f"Plan {request.group}: no node for {member}"
    return ""


def _few(names: Iterable[str], count: int, between: str) -> str:
    """The first of so many names, and how many more there are."""
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return between.join(itertools.islice(names, _SHOWN)) + more
