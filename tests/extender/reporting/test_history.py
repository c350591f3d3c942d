"""The last decisions are kept with their nodes, within bounds."""

import json
from typing import Any

from gpuyard_extender.reporting.decisions import Decision
from gpuyard_extender.reporting.history import History
from tests.extender.builders import Stage, gpu_node, gpu_pod


def told(history: History, uid: str) -> list[Any]:
    return [json.loads(found) for found in history.of(uid)]


def test_each_verb_is_kept_with_the_nodes_that_it_was_about() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 1), gpu_node("full", 0))
    pod = gpu_pod("a", 1)
    stage.create(pod)
    stage.filter(pod)
    best = stage.prioritize(pod, "node-1", "node-2")[0]
    assert stage.bound(pod, best) == ""
    filtered, scored, bound = told(stage.extender.reports.history, "uid-a")
    assert filtered["nodes"] == {"NoSuchResource": ["full"], "Passed": ["node-1", "node-2"]}
    assert scored["order"] == ["node-2", "node-1"]
    assert (bound["node"], len(bound["devices"])) == (best, 1)


def test_a_filter_over_many_nodes_keeps_the_beginning_and_the_counts() -> None:
    stage = Stage(*(gpu_node(f"node-{n}", n % 2) for n in range(300)))
    pod = gpu_pod("a")
    stage.create(pod)
    stage.filter(pod)
    stage.prioritize(pod)
    filtered, scored = told(stage.extender.reports.history, "uid-a")
    assert filtered["verdicts"] == {"NoSuchResource": 150, "Passed": 150}
    assert {len(names) for names in filtered["nodes"].values()} | {len(scored["order"])} == {64}


def test_the_oldest_decision_goes_when_there_are_too_many_bytes() -> None:
    history = History(most=20_000)
    for number in range(1000):
        history.note(Decision("filter", "default", f"pod-{number}", f"uid-{number}", 1.0, {"cpu": 2**70}))
    assert 10_000 < history.weight <= 20_000
    assert (told(history, "uid-0"), len(told(history, "uid-999"))) == ([], 1)
    newest = list(history.since(0, 3))
    assert [entry.number for entry in newest] == [998, 999, 1000]
    assert list(history.since(1000, 3)) == []
