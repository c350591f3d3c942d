"""Decisions that take members off their nodes: undo half a gang, restart one that is too small, release it.

Stands for the part of KAI's stale gang eviction that acts. Law: half a gang goes at once, whatever disruption budgets
say, for it does not work; a gang that did work goes only as far as they allow. With the bound go those without gate
and without GPUs: nobody can put a gate on a pod again, and no extender is asked before they start.
"""

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain

from gpuyard.verdicts import RELEASED
from gpuyard_operator.deciding import actions, commit, endings
from gpuyard_operator.deciding.gang import Gang
from gpuyard_operator.deciding.status import Verdict
from gpuyard_operator.deciding.view import Decision, View
from gpuyard_operator.objects.members import Member


def stranded(gang: Gang, view: View) -> Decision:
    """Some are bound and nothing holds places for the others: the Reservation was lost on the way."""
    bound = tuple(member for member in gang.crew if member.holding)
    until = commit.undo_at(bound, view.seen, gang.now)
    if gang.now < until:
        return Decision(gang.report(None), until)
    says = f"undoes: {len(bound)} of {gang.minimum} members are bound without places"
    return evict(gang.crew, view.refused, says)


def restart(gang: Gang) -> Decision:
    """They start together again when all are there again."""
    return evict(gang.members, (), f"restarts: {gang.left} of {gang.minimum} members are left")


def release(gang: Gang, view: View) -> Decision:
    """What is left goes for good."""
    until = endings.settled(gang.members, view.leaving, gang.now)
    if gang.now < until:
        return Decision(gang.report(gang.scheduled()), until)
    return end(gang, endings.released(gang.left, gang.minimum))


def end(gang: Gang, verdict: Verdict) -> Decision:
    """Say that the group is over; then whoever is left of one that is released goes."""
    going = gang.members if verdict.reason == RELEASED else ()
    gone = evict(going, (), f"is over: {verdict.message}")
    return replace(gone, writes=gang.report(verdict) + gone.writes)


def evict(members: Sequence[Member], refused: Container[str], says: str) -> Decision:
    """A budget may refuse: but what it protects must work, and half a gang does not; then the pod is deleted."""
    going = [member for member in members if member.holding or member.loose]
    evictions = [(member, actions.evict(member)) for member in going]
    writes = [actions.remove(m) if one.path in refused else (one,) for m, one in evictions]
    return Decision(tuple(chain.from_iterable(writes)), says=says, final=bool(going))
