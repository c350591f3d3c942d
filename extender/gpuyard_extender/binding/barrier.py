"""Where the Binds of a gang wait for each other.

Stands for the Permit plugin of a gang scheduler. Laws: the members of one gang wait until one common moment; only the
newest Bind of a pod waits; a member that is deleted while it waits fails all who wait with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gpuyard_extender.binding.binding import Gate
from gpuyard_kube.runtime import Runtime, Signal

NEWER: Final = "a newer Bind of the pod has come"

Key = tuple[str, str]
"""Namespace and PodGroup."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One Bind call that may have to wait: `held` when it did, `refusal` is set when it waits in vain."""

    uid: str
    key: Key
    held: bool = False
    refusal: str = ""


@dataclass(slots=True)
class _Barrier:
    began: float
    signal: Signal
    held: dict[str, Ticket] = field(default_factory=dict)


class Barriers:
    """All gangs at Bind."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._barriers: dict[Key, _Barrier] = {}

    def gate(self, key: Key) -> Gate:
        """What is known about the barrier of a gang; without one, as if it were set up now."""
        found = self._barriers.get(key)
        if found is None:
            return Gate((), self._runtime.now())
        return Gate(tuple(found.held), found.began)

    async def wait(self, ticket: Ticket, until: float) -> None:
        """Stand at the barrier until something happens there, as that somebody comes, or `until` comes."""
        barrier = self._barriers.setdefault(ticket.key, _Barrier(self._runtime.now(), self._runtime.signal()))
        if barrier.held.get(ticket.uid) is not ticket:
            barrier.held[ticket.uid] = ticket
            barrier.signal.fire()
        await barrier.signal.wait(until)

    def replace(self, uid: str, key: Key) -> None:
        """A newer Bind of the pod has come: the one that waits is answered."""
        self._refuse(key, lambda ticket: ticket.uid == uid, NEWER)

    def waiting(self) -> list[tuple[Key, tuple[str, ...]]]:
        """The gangs that wait, and the UIDs of those who stand there; never empty."""
        return [(key, tuple(barrier.held)) for key, barrier in self._barriers.items()]

    def fail(self, key: Key, text: str) -> None:
        """Nobody of the gang waits on."""
        self._refuse(key, lambda _: True, text)

    def stir(self, key: Key) -> None:
        """Let everyone at the barrier look again."""
        found = self._barriers.get(key)
        if found is not None:
            found.signal.fire()

    def leave(self, ticket: Ticket) -> None:
        """The Bind waits no more; the last one takes the barrier down."""
        found = self._barriers.get(ticket.key)
        if found is None or found.held.get(ticket.uid) is not ticket:
            return
        del found.held[ticket.uid]
        if not found.held:
            del self._barriers[ticket.key]

    def _refuse(self, key: Key, chosen: Callable[[Ticket], bool], text: str) -> None:
        found = self._barriers.get(key)
        refused = [ticket for ticket in found.held.values() if chosen(ticket)] if found else []
        for ticket in refused:
            ticket.refusal = text
            self.leave(ticket)
        if found is not None and refused:
            found.signal.fire()
