"""Who was refused looks again when room may have come, but a crowd does not do so all the time."""

from collections import Counter
from dataclasses import replace

from gpuyard.groups.plans import PlanRequest, Unplaceable, Unready
from gpuyard.verdicts import Reason, Rejection
from gpuyard_cluster.clock import Steps
from gpuyard_operator.asking import Answered
from gpuyard_operator.groups import Key
from gpuyard_operator.unschedulable import A_SECOND, FEW, Unschedulable

QUESTION = PlanRequest("default", "ring", 1, ("uid",))
FULL = Rejection("node-1", Reason.INSUFFICIENT_GPUS, "")
REFUSED, UNKNOWN = (Answered(QUESTION, answer, 0, 0.0) for answer in (Unplaceable("a", (FULL,)), Unready("")))


class Room:
    """So many groups without room; `woken` counts how often each was."""

    def __init__(self, groups: int) -> None:
        self.clock, self.woken = Steps(), Counter[Key]()
        self.unschedulable = Unschedulable(self.clock, lambda key: self.woken.update([key]))
        self.openings = 0
        for number in range(groups):
            self.unschedulable.note(("default", f"g{number}"), [UNKNOWN, REFUSED])

    def open(self, after: float = 0.0, *, node: bool = False) -> None:
        """Room may have come after so many seconds, by the end of a pod or by a node."""
        self.pass_by(after)
        self.openings += 1
        self.unschedulable.look(self.openings, self.openings if node else 0)

    def pass_by(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        while (following := self.clock.next_at()) is not None and following <= end:
            self.clock.advance_to(following)
            while self.clock.step() is not None:
                pass
        self.clock.advance_to(end)


def test_only_those_look_again_that_were_refused_and_only_when_room_may_have_come() -> None:
    room = Room(2)
    room.unschedulable.note(("default", "g1"), [UNKNOWN])
    room.unschedulable.look(0, 0)
    assert not room.woken
    room.open()
    assert room.woken == {("default", "g0"): 1}


def test_whom_no_node_suits_looks_again_only_when_nodes_have_changed() -> None:
    room, nowhere = Room(2), replace(FULL, reason=Reason.NODE_AFFINITY_MISMATCH)
    room.unschedulable.note(("default", "g1"), [replace(REFUSED, answer=Unplaceable("a", (nowhere,)))])
    room.open()
    assert room.woken == {("default", "g0"): 1}
    room.open(node=True)
    assert room.woken == {("default", "g0"): 2, ("default", "g1"): 1}


def test_more_than_all_nodes_have_is_no_matter_where_fewer_need_to_start() -> None:
    room, excess = Room(2), Rejection("", Reason.INSUFFICIENT_GPUS, "all 3 members need 3, all nodes have 2")
    answer = Unplaceable("c", (excess, FULL))
    for key, needed in (("g0", 1), ("g1", 3)):
        question = replace(QUESTION, needed=needed, members=("a", "b", "c"))
        room.unschedulable.note(("default", key), [Answered(question, answer, 0, 0.0)])
    room.open()
    assert room.woken == {("default", "g0"): 1}


def test_a_few_look_again_at_every_change() -> None:
    room = Room(FEW)
    for _ in range(3):
        room.open()
    assert set(room.woken.values()) == {3}


def test_many_look_again_once_in_a_while_and_miss_no_change() -> None:
    groups, changes = 4 * FEW, 200
    room = Room(groups)
    for _ in range(changes):
        room.open(after=0.1)
    looks, seconds = room.woken.total(), changes * 0.1
    assert looks <= A_SECOND * seconds + 2 * groups
    before = looks
    room.pass_by(60)
    assert room.woken.total() - before in (0, groups), "one look for all that happened since"
    assert set(room.woken.values()) == {room.woken.total() // groups}
