"""Work in turns: what fails once does not stop for good, wherever something goes on without end."""

from gpuyard_cluster.clock import Steps
from gpuyard_kube.loops import LONGEST_PAUSE, keep_on


class Work:
    """So many turns are to do; those whose number `fails` names raise. `at` is when each was taken."""

    def __init__(self, turns: int, *fails: int) -> None:
        self.steps, self._turns, self._fails = Steps(0.0), turns, fails
        self.at: list[float] = []

    async def turn(self) -> bool:
        self.at.append(self.steps.now())
        if len(self.at) in self._fails:
            raise LookupError(f"turn {len(self.at)}")
        return len(self.at) < self._turns

    def play(self) -> list[str]:
        """Until there is nothing more to do; what was reported."""
        reports = []
        keep_on(self.steps, self.turn, "work")
        while (following := self.steps.next_at()) is not None:
            self.steps.advance_to(following)
            try:
                self.steps.step()
            except LookupError as error:
                reports.append(str(error))
        return reports


def test_turns_follow_each_other_until_there_is_nothing_more_to_do() -> None:
    work = Work(3)
    assert (work.play(), work.at) == ([], [0, 0, 0])


def test_a_turn_that_fails_is_reported_and_followed_by_others_later_and_later() -> None:
    work = Work(6, 1, 2, 3, 5)
    assert work.play() == ["turn 1", "turn 2", "turn 3", "turn 5"]
    assert work.at == [0, 1, 3, 7, 7, 8], "and after a good one as soon as at first"


def test_what_fails_again_and_again_is_tried_from_time_to_time_all_the_same() -> None:
    work = Work(12, *range(1, 12))
    assert len(work.play()) == 11
    assert work.at[-1] - work.at[-2] == LONGEST_PAUSE
