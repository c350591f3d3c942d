"""What comes out of a replay: curves, tables, pictures, and sweeps that go on where they were."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gpuyard.policies import registry
from gpuyard_replay import comparison, curve, plot, sources, sweeping, tables
from gpuyard_replay.curve import Point, Record
from gpuyard_replay.replaying import Result, replay
from gpuyard_replay.sources import Source
from gpuyard_replay.sweeping import Key, Task
from gpuyard_replay.traces import InvalidTraceError

SMALL = Source(Path(__file__).parents[2] / "replay" / "traces" / "small" / "pods.csv")


def result(policy: str) -> Result:
    return replay(sources.drawn(SMALL, 42), registry.named(policy))


def test_a_bucket_is_the_mean_of_its_arrivals_failed_ones_too() -> None:
    record = Record(
        1000, np.array([4, 5, 14, 16]), np.array([4, 5, 5, 10]), np.array([100.0, 200.0, 300.0, 400.0])
    )
    assert curve.points(record) == [
        Point(0, 0.45, 15.0, (10.04 + 20.1) / 2),
        Point(1, 0.5, 30.0, 30.15),
        Point(2, 1.0, 40.0, 40.4),
    ]


@pytest.mark.parametrize("policy", sorted(registry.POLICIES))
def test_what_is_asked_for_is_in_use_or_was_refused(policy: str) -> None:
    found = result(policy)
    record = found.record
    assert (np.diff(record.used) >= 0).all()
    assert (record.used <= np.minimum(record.asked, record.capacity)).all()
    assert ((record.lost >= -1e-6) & (record.lost <= record.capacity - record.used + 1e-6)).all()
    assert bool(sum(found.failed.values())) == bool(record.asked[-1] > record.used[-1])


def test_a_replay_says_the_same_each_time() -> None:
    assert (result("fgd").record.used == result("fgd").record.used).all()
    assert (result("random").record.used == result("random").record.used).all()


def test_fragmentation_added_up_is_that_of_the_fleet_in_the_end() -> None:
    from gpuyard.policies import fragmentation, workload
    from gpuyard_replay.engine import Engine
    from gpuyard_replay.fleet import Fleet

    scene = sources.drawn(SMALL, 3)
    fleet = Fleet(scene.nodes)
    known = workload.typical(fleet.shape(pod) for pod in scene.known)
    engine = Engine(fleet, scene.ranks, registry.named("bestfit"), known, 3)
    for pod in scene.arrivals:
        engine.place(fleet.shape(pod))
    whole = fragmentation.fragmentation(fleet.states(np.arange(len(scene.nodes))), known).sum()
    assert replay(scene, registry.named("bestfit")).record.lost[-1] == pytest.approx(whole)


def test_table_csv_and_picture_name_every_policy() -> None:
    results = {"fgd": result("fgd"), "<own>": result("pack")}
    curves = {name: curve.points(found.record) for name, found in results.items()}
    assert [line.split()[0] for line in tables.table(results).splitlines()] == ["policy", "fgd", "<own>"]
    assert len(tables.as_csv(curves).splitlines()) == 1 + sum(map(len, curves.values()))
    picture = ElementTree.fromstring(plot.svg("a & b", curves))
    words = [found.text for found in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a & b", "fgd", "<own>"} <= set(words)
    assert len(picture.findall("{http://www.w3.org/2000/svg}polyline")) == 4


TASKS = [Task(SMALL, policy, seed) for policy in ("fgd", "pack") for seed in (1, 2)]


def swept(results: Path, tasks: Sequence[Task] = TASKS) -> list[Key]:
    return sorted(sweeping.sweep(tasks, results, 1))


def test_a_sweep_goes_on_after_what_is_there_also_after_half_a_line(tmp_path: Path) -> None:
    results = tmp_path / "sweep.csv"
    assert swept(results, TASKS[:3]) == sorted(task.key for task in TASKS[:3])
    whole = results.read_text()
    results.write_text(whole[:-20])
    assert len(swept(results)) == 2
    assert swept(results) == []
    found = sweeping.read(results)
    assert found.keys() == {task.key for task in TASKS}
    assert found[TASKS[0].key] == [
        Point(p.asked, *(round(v, 4) for v in (p.allocated, p.fragmentation, p.fragmentation_ratio)))
        for p in sweeping.run(TASKS[0])
    ]


def test_a_file_that_holds_no_results_is_refused_and_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "notes.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidTraceError, match="name another file"):
        swept(other)
    assert other.read_text() == "a,b\n1,2\n"


def test_a_comparison_is_made_seed_by_seed() -> None:
    curves = {
        Key("t", 130, policy, seed): [Point(100, value, 1.0, 2.0), Point(130, value + 1, 1.0, 2.0)]
        for policy, seed, value in [("fgd", 1, 90.0), ("fgd", 2, 80.0), ("own", 1, 91.0), ("own", 2, 83.0)]
    }
    text = comparison.markdown(curves)
    assert "| t | 86.00 ±7.07 | 88.00 ±5.66 |" in text
    assert "| t | +2.00 (+1.00, +3.00) |" in text
    assert "| t | 2 | 2 |" in text


def test_a_comparison_names_the_point_where_a_policy_is_worst() -> None:
    curves = {
        Key("t", 130, policy, seed): [Point(90, 80.0, 0, 0), Point(95, middle, 0, 0), Point(130, 90.0, 0, 0)]
        for policy, middle in [("fgd", 84.0), ("own", 83.0)]
        for seed in (1, 2)
    }
    assert "| t | -1.00 at 95 % |" in comparison.markdown(curves)


def test_means_are_made_point_by_point() -> None:
    curves = {Key("t", 130, "own", seed): [Point(100, 86.0 + seed, 1.0, 2.0)] for seed in (0, 2)}
    assert comparison.means(curves, "t")["own"] == [Point(100, 87.0, 1.0, 2.0)]
