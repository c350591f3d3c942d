"""From a file to jobs with times, and from a history to what operators ask."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpuyard.hardware.presets import presets
from gpuyard_replay import additions, jobs, measures, sources, timed, timed_tables, traces
from gpuyard_replay.columns import Lifetime, Membership
from gpuyard_replay.history import History, Outcome, Rules, Sample
from gpuyard_replay.jobs import Durations, Job
from gpuyard_replay.queueing import Discipline
from gpuyard_replay.sources import Source
from gpuyard_replay.timed import Timing
from gpuyard_replay.traces import InvalidTraceError, TraceNode, TracePod

TRACES = Path(__file__).parents[2] / "replay" / "traces"
SMALL, JOBS, MIG = (Source(TRACES / name / "pods.csv", until=300) for name in ("small", "jobs", "mig"))
HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,gang,queue,priority,mig_profile,creation_time,"
HEAD += "scheduled_time,deletion_time\n"


def read(folder: Path, *lines: str) -> tuple[TracePod, ...]:
    path = folder / "pods.csv"
    path.write_text(HEAD + "\n".join(lines))
    return traces.read_pods(path)


def test_times_gang_queue_and_priority_are_read_where_they_are(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "a,1,1,1,1000,LS,ring,research,-5,,10,20,50",
        "b,1,1,1,125,LS,,,,1g.5gb,10,,50",
        "c,1,1,1,1000,,,,,,,,",
    )
    assert [(pod.lifetime, pod.membership, pod.profile) for pod in found] == [
        (Lifetime(10, 30), Membership("ring", "research", -5), ""),
        (Lifetime(10), Membership("", "LS", 0), "1g.5gb"),
        (None, Membership(), ""),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a,1,1,1,1000,,,,,,1,20,10", "deletion_time is 10, before scheduled_time 20"),
        ("a,1,1,1,1000,,,,high,,,,", "priority is 'high'"),
        ("a,1,1,1,1000,,,,,,soon,,", "creation_time is 'soon'"),
        ("a,1,1,2,125,,,,,1g.5gb,,,", "num_gpu is 2, but an instance 1g.5gb is a part of 1"),
    ],
)
def test_bad_times_are_refused_with_their_column(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(InvalidTraceError, match=f"pods.csv:2: {why}"):
        read(tmp_path, line)


def test_a_gang_comes_with_its_last_pod_and_runs_as_long_as_its_longest() -> None:
    members = tuple(
        TracePod(name, 1, 1, 1, 1000, lifetime=Lifetime(came, runs), membership=Membership("ring"))
        for name, came, runs in (("a", 10, 5), ("b", 30, None), ("c", 20, 9))
    )
    alone = TracePod("d", 1, 1, 1, 1000)
    assert jobs.of_pods([*members, alone]) == [Job("ring", members, 30, 9), Job("d", (alone,))]


def test_durations_are_the_traces_own_unless_they_are_to_be_drawn() -> None:
    known, unknown = (Job("k", (), 0, 0), Job("u", ()))
    kept = jobs.with_durations([known, unknown], Durations(), 1, anew=False)
    anew = jobs.with_durations([known, unknown], Durations(), 1, anew=True)
    assert kept[0].runs == 1
    assert anew[0].runs != 1
    assert kept[1].runs == anew[1].runs


def test_drawn_durations_have_the_percentiles_asked_for() -> None:
    many = jobs.with_durations([Job(str(i), ()) for i in range(4000)], Durations(600, 7200), 1, anew=True)
    runs = sorted(job.runs or 0 for job in many)
    assert 540 < measures.percentile(runs, 50) < 660
    assert 6000 < measures.percentile(runs, 90) < 8400
    assert runs[-1] == 3 * 7200


def test_a_load_is_met_to_the_second_and_the_same_for_a_seed() -> None:
    play = timed.drawn(SMALL, Timing(80), 7)
    capacity = 1000 * sum(node.gpus for node in play.scene.nodes)
    asked = sum(job.gpu_milli * (job.runs or 0) for job in play.jobs)
    assert play.jobs[-1].arrives == pytest.approx(asked / (0.8 * capacity), abs=1)
    assert play.jobs == timed.drawn(SMALL, Timing(80), 7).jobs
    assert play.jobs != timed.drawn(SMALL, Timing(80), 8).jobs
    assert len({job.name for job in play.jobs}) == len(play.jobs)


def test_without_a_load_jobs_come_when_the_trace_says_or_it_says_why_not() -> None:
    play = timed.drawn(JOBS, Timing(), 1)
    came = {pod.lifetime.created for pod in play.scene.known if pod.lifetime}
    assert {job.arrives for job in play.jobs} == came
    assert len(play.jobs) == 160
    with pytest.raises(InvalidTraceError, match="give --load"):
        timed.drawn(SMALL, Timing(), 1)


def test_the_same_jobs_come_where_nodes_are_added() -> None:
    without = timed.drawn(SMALL, Timing(80), 7)
    more = timed.drawn(Source(SMALL.trace, until=300, added=("2xdgx-h100", "node-A00")), Timing(80), 7)
    assert more.jobs == without.jobs
    added = more.scene.nodes[len(without.scene.nodes) :]
    assert [(node.name, node.gpus, node.model) for node in added] == [
        ("dgx-h100+1", 8, "NVIDIA-H100-80GB-HBM3"),
        ("dgx-h100+2", 8, "NVIDIA-H100-80GB-HBM3"),
        ("node-A00+1", 4, "A"),
    ]
    assert sorted(more.scene.ranks) == list(range(len(more.scene.nodes)))
    assert (
        sources.drawn(SMALL, 1).arrivals
        == sources.drawn(Source(SMALL.trace, until=300, added=("t4",)), 1).arrivals
    )


@pytest.mark.parametrize("name", sorted(presets()))
def test_nodes_of_every_preset_can_be_added(name: str) -> None:
    [found] = additions.parsed([name], [])
    assert min(found.cpu, found.memory, found.gpus) > 0
    assert found.model


@pytest.mark.parametrize("text", ["0xt4", "3xnothing", "", "99999xt4"])
def test_nodes_that_cannot_be_added_are_refused(text: str) -> None:
    with pytest.raises(InvalidTraceError, match="--add-nodes"):
        additions.parsed([text], [TraceNode("n", 1, 1, 1, "A")])


def test_gangs_that_start_whole_hold_nothing_idle_and_pods_one_by_one_do() -> None:
    play = timed.drawn(JOBS, Timing(), 1)
    held = {each: timed.run(play, "pack", Rules(each)).held for each in Discipline}
    assert held[Discipline.BEST_EFFORT] == held[Discipline.STRICT] == 0
    assert held[Discipline.POD_BY_POD] > 0


def test_mig_traces_are_placed_by_start_slice() -> None:
    play = timed.drawn(MIG, Timing(), 1)
    assert timed.policies(play) == ["pack", "holes", "random"]
    found = measures.measured(timed.run(play, "holes", Rules()))
    assert (found.never_started, found.refused, found.jobs) == (0, 0, 240)


def outcome(queue: str, arrives: int, runs: int, started: int | None) -> Outcome:
    member = TracePod("p", 1, 1, 1, 1000, membership=Membership("", queue))
    return Outcome(Job("j", (member,), arrives, runs), started)


def test_measures_are_as_defined() -> None:
    outcomes = [
        outcome("x", 0, 3600, 0),
        outcome("x", 1800, 3600, 3600),
        outcome("y", 3600, 3600, None),
        Outcome(outcome("y", 0, 1, None).job, None, refused=True),
    ]
    samples = [Sample(0, 1000, 0, 0, 500), Sample(3600, 1000, 0, 1000, 1000), Sample(7200, 0, 0, 1000, 0)]
    found = measures.measured(History(2000, outcomes, samples, 3_600_000, 7_200_000))
    assert (found.jobs, found.refused, found.never_started, found.makespan) == (4, 1, 1, 7200)
    assert (found.wait_p50, found.wait_p90, found.wait_p99) == (1800, 3600, 3600)
    assert (found.used_hours, found.held_hours, found.stranded_hours) == (2, 1, 2)
    assert found.utilisation == 0.5  # between 1800 and 3600 one of two GPUs
    assert found.lost == (500 + 1000) / 2 / 2000
    # Of queue x 2 of 2.5 hours in the system ran, of y none.
    assert found.fairness == pytest.approx(0.5)


def test_jains_index_is_one_for_equals_and_one_of_n_where_one_has_all() -> None:
    assert measures.jain([0.3, 0.3, 0.3]) == pytest.approx(1)
    assert measures.jain([0.5, 0, 0, 0]) == pytest.approx(0.25)
    assert measures.jain([]) == 1


def test_table_csv_and_picture_have_every_run() -> None:
    play = timed.drawn(JOBS, Timing(), 1)
    runs = {("pack", each.value): timed.run(play, "pack", Rules(each)) for each in Discipline}
    lines = timed_tables.table(runs).splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["pack", each.value] for each in Discipline]
    rows = timed_tables.as_csv(runs).splitlines()
    assert len(rows) == 1 + sum(len(history.samples) for history in runs.values())
    picture = ElementTree.fromstring(timed_tables.svg("jobs", runs))
    assert len(picture.findall("{http://www.w3.org/2000/svg}polyline")) == 9


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (119, "119s"), (120, "2m"), (9000, "2.5h"), (10**6, "11.6d")]
)
def test_spans_are_written_for_people(seconds: int, text: str) -> None:
    assert timed_tables.span(seconds) == text
