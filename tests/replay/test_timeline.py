"""Jobs that come, wait, run and go: nobody is forgotten, nothing is given twice, and disciplines keep their word."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.policies import registry
from gpuyard_replay.columns import Membership
from gpuyard_replay.engine import Seat
from gpuyard_replay.history import History, Outcome, Rules
from gpuyard_replay.jobs import Job
from gpuyard_replay.places import FleetPlaces
from gpuyard_replay.queueing import Discipline
from gpuyard_replay.replaying import Scene
from gpuyard_replay.timeline import Timeline
from gpuyard_replay.traces import TraceNode, TracePod

NODES = (TraceNode("a", 64_000, 65_536, 4, "A"), TraceNode("b", 32_000, 65_536, 2, "B"))
WHOLE_GANGS = (Discipline.BEST_EFFORT, Discipline.STRICT)


def pod(gpus: int = 1, milli: int = 1000, queue: str = "", priority: int = 0) -> TracePod:
    return TracePod("p", 1000, 1024, gpus, milli, membership=Membership("", queue, priority))


def job(name: str, arrives: int, runs: int, *pods: TracePod) -> Job:
    return Job(name, pods or (pod(),), arrives, runs)


def places(jobs: Sequence[Job], nodes: Sequence[TraceNode] = NODES) -> FleetPlaces:
    known = [member for each in jobs for member in each.pods]
    return FleetPlaces(Scene(nodes, range(len(nodes)), (), known, 1), registry.named("pack"))


def run(jobs: Sequence[Job], discipline: Discipline = Discipline.BEST_EFFORT, **quotas: int) -> History:
    return Timeline(jobs, places(jobs), Rules(discipline, quotas)).run()


def starts(history: History) -> dict[str, int | None]:
    return {outcome.job.name: outcome.started for outcome in history.outcomes}


def test_a_job_waits_until_somebody_goes_and_who_fits_meanwhile_passes_it() -> None:
    jobs = [job("first", 0, 100, pod(4)), job("large", 10, 50, pod(4)), job("small", 20, 5)]
    assert starts(run(jobs)) == {"first": 0, "large": 100, "small": 20}
    assert starts(run(jobs, Discipline.STRICT)) == {"first": 0, "large": 100, "small": 100}


def test_strict_holds_up_its_own_queue_alone() -> None:
    jobs = [job("first", 0, 100, pod(4, queue="x")), job("large", 10, 50, pod(4, queue="x"))]
    jobs.append(job("other", 20, 5, pod(queue="y")))
    assert starts(run(jobs, Discipline.STRICT)) == {"first": 0, "large": 100, "other": 20}


def test_of_those_who_wait_the_highest_priority_starts_first_then_the_oldest() -> None:
    jobs = [job("now", 0, 100, pod(4), pod(2)), job("old", 1, 10, pod(4)), job("young", 2, 10, pod(4))]
    jobs.append(job("urgent", 3, 10, pod(4, priority=5)))
    assert starts(run(jobs)) == {"now": 0, "urgent": 100, "old": 110, "young": 120}


def test_who_comes_later_and_goes_before_is_not_held_up_by_the_first() -> None:
    jobs = [job("now", 0, 100, pod(4)), job("large", 1, 10, pod(4)), job("urgent", 2, 10, pod(priority=5))]
    assert starts(run(jobs, Discipline.STRICT)) == {"now": 0, "large": 100, "urgent": 2}


def test_two_gangs_of_which_each_holds_half_never_start_unless_gangs_start_whole() -> None:
    jobs = [job("short", 0, 6, *[pod()] * 3), job("one", 1, 60, *[pod()] * 4)]
    jobs.append(job("urgent", 2, 60, *[pod(priority=5)] * 4))
    apart = run(jobs, Discipline.POD_BY_POD)
    assert starts(apart) == {"short": 0, "one": None, "urgent": None}
    assert apart.held == 3000 * (6 - 1)  # of "one"; after that nothing happens any more
    together = run(jobs)
    assert starts(together) == {"short": 0, "urgent": 6, "one": 66}
    assert together.held == 0
    assert together.stranded == 3000 * (6 - 1) + 2000 * (66 - 6)


def test_a_job_that_no_empty_cluster_could_take_is_refused_and_holds_up_nobody() -> None:
    jobs = [job("never", 0, 10, pod(4), pod(4)), job("other", 1, 10)]
    for discipline in Discipline:
        found = run(jobs, discipline)
        assert [outcome.refused for outcome in found.outcomes] == [True, False]
        assert starts(found)["other"] == 1


def test_a_quota_counts_while_a_job_runs_and_a_job_beyond_it_is_refused() -> None:
    jobs = [job("a", 0, 10, pod(2, queue="x")), job("b", 0, 10, pod(2, queue="x"))]
    jobs += [job("c", 0, 10, pod(4, queue="x")), job("d", 0, 10, pod(2, queue="y"))]
    found = run(jobs, x=3000)
    assert starts(found) == {"a": 0, "b": 10, "c": None, "d": 0}
    assert [outcome.refused for outcome in found.outcomes] == [False, False, True, False]


PODS = st.builds(
    pod,
    st.integers(1, 4),
    st.just(1000),
    st.sampled_from(["x", "y"]),
    st.integers(0, 1),
) | st.builds(pod, st.just(1), st.sampled_from([300, 500]), st.sampled_from(["x", "y"]))
SINGLES = st.builds(
    lambda member, arrives, runs: Job("j", (member,), arrives, runs),
    PODS,
    st.integers(0, 30),
    st.integers(1, 30),
)
GANGS = st.builds(
    lambda member, count, arrives, runs: Job("j", (member,) * count, arrives, runs),
    PODS,
    st.integers(1, 3),
    st.integers(0, 30),
    st.integers(1, 30),
)


def moments(outcomes: Sequence[Outcome]) -> list[int]:
    return sorted({each.started for each in outcomes if each.started is not None})


def running(outcomes: Sequence[Outcome], moment: int) -> int:
    return sum(
        each.job.gpu_milli
        for each in outcomes
        if each.started is not None and each.started <= moment < each.started + (each.job.runs or 0)
    )


@settings(deadline=None, max_examples=60)
@given(jobs=st.lists(GANGS, max_size=12), discipline=st.sampled_from(list(Discipline)))
def test_nothing_is_given_twice_and_nothing_is_left_behind(jobs: list[Job], discipline: Discipline) -> None:
    subject = places(jobs) if jobs else places([job("any", 0, 1)])
    before = given_out(subject)
    found = Timeline(jobs, subject, Rules(discipline)).run()
    for moment in moments(found.outcomes):
        assert running(found.outcomes, moment) <= found.capacity
    for sample in found.samples:
        assert sample.running + sample.held <= found.capacity
        assert 0 <= sample.lost <= found.capacity - sample.running - sample.held
    assert all(each.started is None or each.started >= each.job.arrives for each in found.outcomes)
    if discipline in WHOLE_GANGS:
        assert found.held == 0
        assert all((each.started is None) == each.refused for each in found.outcomes)
        assert given_out(subject) == before


def given_out(subject: FleetPlaces) -> list[list[int]]:
    """Node and GPUs that pods get one after the other, all of which leave again."""
    seats = [seat for _ in range(6) if (seat := subject.take(pod())) is not None]
    for seat in seats:
        subject.leave(seat)
    return [[seat.row, *seat.gpus.tolist()] for seat in seats]


@settings(deadline=None, max_examples=60)
@given(jobs=st.lists(GANGS, max_size=12))
def test_under_strict_nobody_of_a_queue_passes_another(jobs: list[Job]) -> None:
    outcomes = [each for each in run(jobs, Discipline.STRICT).outcomes if not each.refused] if jobs else []
    for one, other in itertools.permutations(outcomes, 2):
        same = one.job.membership.queue == other.job.membership.queue
        assert one.started is not None
        assert other.started is not None
        if same and one.started > other.started >= one.job.arrives:
            assert other.job.membership.priority >= one.job.membership.priority
            assert other.job.membership.priority > one.job.membership.priority or (
                other.job.arrives <= one.job.arrives
            )


@settings(deadline=None, max_examples=60)
@given(jobs=st.lists(SINGLES, min_size=1, max_size=14))
def test_remembered_refusals_change_nothing(jobs: list[Job]) -> None:
    """Against a line in which everybody is tried again at every moment."""
    named = [Job(f"j{i}", each.pods, each.arrives, each.runs) for i, each in enumerate(jobs)]
    subject = places(named)
    waiting: list[Job] = []
    gone: list[tuple[int, Seat]] = []
    found: dict[str, int] = {}
    for moment in range(30 + 30 * len(named) + 1):
        for end, seat in [each for each in gone if each[0] == moment]:
            subject.leave(seat)
            gone.remove((end, seat))
        waiting += [each for each in named if each.arrives == moment]
        waiting.sort(key=lambda each: (-each.membership.priority, each.arrives, named.index(each)))
        for each in list(waiting):
            if (seat := subject.take(each.pods[0])) is not None:
                gone.append((moment + (each.runs or 0), seat))
                found[each.name] = moment
                waiting.remove(each)
    assert starts(run(named)) == found


@pytest.mark.parametrize("discipline", list(Discipline))
def test_no_jobs_are_no_history(discipline: Discipline) -> None:
    found = Timeline([], places([job("any", 0, 1)]), Rules(discipline)).run()
    assert (found.outcomes, found.samples) == ([], [])
