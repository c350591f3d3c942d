"""The verb Bind, carried out: wait for the gang, write the Binding, learn what became of it.

Stands for the goroutine of one binding cycle. The decisions are `binding.decide`'s; here is only what takes time.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from gpuyard.annotations import Allocation, ids
from gpuyard.groups.reservations import Reservation
from gpuyard.verdicts import Reason
from gpuyard.writes import Reply
from gpuyard_extender.binding import binding
from gpuyard_extender.binding.barrier import NEWER, Barriers, Key, Ticket
from gpuyard_extender.binding.binding import BindRequest, Bound, Commit, Held, Refused
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime, Signal

_UNSEEN: Final = "the extender has just become the active one, and does not know yet who is on the node"
_CONFLICT: Final = 409
"""The pod is bound already, perhaps by an earlier try of ours."""
_ANOTHER: Final = "another member of the pod group could not be bound"


class Binder:
    """All Binds of one extender."""

    def __init__(
        self,
        ledger: Ledger,
        api: Api,
        runtime: Runtime,
        tell: Callable[[str], None],
        look: Callable[[str], Awaitable[bool]],
    ) -> None:
        """`look` makes sure that the ledger knows who is on a node; False when that could not be found out."""
        self._ledger = ledger
        self._api = api
        self._runtime = runtime
        self._tell, self._look = tell, look
        self._barriers = Barriers(runtime)
        self._writing: dict[str, Signal] = {}
        self._newest, self._moved = dict[str, Ticket](), runtime.signal()

    @property
    def held(self) -> int:
        """Binds that wait for the rest of their gang."""
        return sum(len(uids) for _, uids in self._barriers.waiting())

    async def bind(self, request: BindRequest) -> Bound | Refused:
        """The answer to one Bind, when there is one."""
        ticket = Ticket(request.uid, self._key(request))
        self._barriers.replace(ticket.uid, ticket.key)
        self._newest[ticket.uid] = ticket
        try:
            answer = await self._answer(request, ticket)
        except Exception:
            # A fault of ours, which the edge logs and answers: nobody is to wait for a member that does not come.
            self._barriers.fail(ticket.key, _ANOTHER)
            raise
        finally:
            self._barriers.leave(ticket)
            if self._newest.get(ticket.uid) is ticket:
                del self._newest[ticket.uid]
            self._moved.fire()
        if isinstance(answer, Refused):
            self._tell(f"Bind {request.name} to {request.node}: {answer.text}")
        return answer

    def look_again(self) -> None:
        """The ledger has changed: whoever waits for what has come, or in vain, goes on."""
        for key, held in self._barriers.waiting():
            for uid in held:
                pod = self._ledger.pods.get(uid)
                if pod is None or pod.terminating or pod.ended:
                    self._barriers.fail(key, "a member of the pod group was deleted")
                    break
            else:
                if self._moves(held):
                    self._barriers.stir(key)

    async def drain(self, until: float) -> None:
        """Wait until no Bind is left, at most until that moment. A gang that is bound in part is bound as a whole;
        who waits for others to come is refused: some would come here, and some to the next extender."""
        while self._newest or self._writing:
            for key, held in self._barriers.waiting():
                seated = self._ledger.seat(held[0], self._runtime.now())
                if seated is None or not self._ends_here(key, seated[0]):
                    self._barriers.fail(key, Reason.LEADER_UNAVAILABLE.text)
            if not await self._moved.wait(until):
                return

    def _ends_here(self, key: Key, reservation: Reservation) -> bool:
        """Whether a gang has begun to be bound, and all whom it needs have come."""
        here = {ticket.uid for ticket in self._newest.values() if ticket.key == key}
        return bool(self._ledger.arrived(reservation)) and binding.complete(reservation, self._ledger, here)

    def _moves(self, held: tuple[str, ...]) -> bool:
        """Whether those who wait would be answered now: the gang is complete, or has lost its places."""
        seated = self._ledger.seat(held[0], self._runtime.now())
        return seated is None or binding.complete(seated[0], self._ledger, held)

    def _key(self, request: BindRequest) -> Key:
        pod = self._ledger.pods.get(request.uid)
        return (request.namespace, (pod.group if pod else None) or "")

    async def _answer(self, request: BindRequest, ticket: Ticket) -> Bound | Refused:
        if not await self._look(request.node):
            return Refused(_UNSEEN)
        if self._newest.get(ticket.uid) is not ticket:
            return Refused(NEWER)
        while not ticket.refusal:
            writing = self._writing.get(request.uid)
            if writing is not None:
                await writing.wait()
                continue
            answer = binding.decide(
                request, self._ledger, self._barriers.gate(ticket.key), self._runtime.now()
            )
            match answer:
                case Held(until):
                    if not ticket.held:
                        self._tell(f"Bind {request.name} to {request.node}: held for its gang")
                    ticket.held = True
                    self._moved.fire()
                    await self._barriers.wait(ticket, until)
                case Commit():
                    return await self._commit(request, answer, ticket)
                case _:
                    return answer
        return Refused(ticket.refusal)

    async def _commit(self, request: BindRequest, commit: Commit, ticket: Ticket) -> Bound | Refused:
        uid, written = request.uid, self._runtime.signal()
        self._writing[uid] = written
        try:
            self._ledger.assume(commit.placement, Grade.SENT, self._runtime.now())
            self._barriers.leave(ticket)
            reply = await self._api.send(commit.write)
            answer = Bound() if reply.ok else await self._learn(request, commit, reply)
        finally:
            del self._writing[uid]
            written.fire()
        if isinstance(answer, Bound):
            self._tell(f"Bind {request.name} to {request.node}: {_devices(commit.placement.allocation)}")
            self._confirm(commit)
            self._barriers.stir(ticket.key)
        else:
            # Together they come again after the same back-off; one by one they would miss each other for long.
            self._barriers.fail(ticket.key, _ANOTHER)
        return answer

    def _confirm(self, commit: Commit) -> None:
        pod = self._ledger.pods.get(commit.placement.uid)
        if pod is not None and not pod.node:
            self._ledger.assume(commit.placement, Grade.BOUND, self._runtime.now())

    async def _learn(self, request: BindRequest, commit: Commit, reply: Reply) -> Bound | Refused:
        """Whether the pod is bound all the same: an answer can be lost, and somebody may have been faster."""
        refused = Refused(reply.reason)
        found = await self._api.read(request.path)
        if not found.ok and found.status != 404:
            if 400 <= reply.status < 500 and reply.status != _CONFLICT:
                self._ledger.forget(request.uid, Grade.SENT)
            # Else nobody knows: the devices stay assumed until the pod is seen, or for a minute.
            return refused
        same = (found.body.get("metadata") or {}).get("uid") == request.uid
        if same and (found.body.get("spec") or {}).get("nodeName") == request.node:
            return Bound()
        if same and reply.status >= 500:
            # It may still arrive: a server that gives up on a request does not take it back.
            self._ledger.assume(commit.placement, Grade.TENTATIVE, self._runtime.now())
        else:
            self._ledger.forget(request.uid, Grade.SENT)
        return refused


def _devices(allocation: Allocation) -> str:
    return ", ".join(sorted(ids(allocation))) or "no device of ours"
