"""What the extender tells of its answers, a line each: for the log, and for learners who step through a scenario."""

from collections.abc import Mapping
from typing import Final

from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable
from gpuyard.narration import few
from gpuyard.preempting.stakes import Victims
from gpuyard_extender.scheduling import Filtered

_SHOWN: Final = 8
"""Node names in a line."""


def of_filter(pod: str, found: Filtered) -> str:
    """Who passes, and how many do not for what."""
    refused = "".join(f", {len(names)} × {reason}" for reason, names in sorted(found.rejected.items()))
    passed = few([*sorted(found.passed[:_SHOWN]), *found.passed[_SHOWN:]], _SHOWN)
    return f"Filter {pod}: {passed or 'no node'} passes{refused}"


def of_prioritize(pod: str, ranks: Mapping[str, int]) -> str:
    """The order of the nodes."""
    return f"Score {pod}: {few(ranks, _SHOWN, ' > ')}"


def of_preempt(pod: str, found: Mapping[str, Victims]) -> str:
    """How many would go where."""
    offers = [f"{len(victims.uids)} on {name}" for name, victims in found.items()]
    return f"Preempt for {pod}: victims: {few(offers, _SHOWN) or 'none that help'}"


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
