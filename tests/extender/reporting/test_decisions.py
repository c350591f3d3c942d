"""The log of decisions says what was decided, never gets in the way of a decision, and does not grow for ever."""

import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from gpuyard.groups.plans import PlanRequest
from gpuyard_extender.reporting import decision_log
from gpuyard_extender.reporting.decision_log import DecisionLog, RotatingFile, Stdout, sink
from gpuyard_extender.reporting.decisions import Decision
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from tests.extender.builders import Stage, device, gpu_node, gpu_pod
from tests.extender.web.test_app import call
from tests.extender.web.test_metrics import scraped


class Notes:
    """`decisions.Book` in memory."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self.lost = 0

    @property
    def written(self) -> int:
        return len(self.found)

    def note(self, decision: Decision) -> None:
        self.found.append(json.loads(json.dumps(decision.to_json())))


def keeping(book: Any, *nodes: Any) -> Stage:
    stage = Stage()
    stage.extender = Extender(stage.server, stage.clock, Settings(), book=book)
    stage.nodes = [node["metadata"]["name"] for node in nodes]
    stage.extender.replace("nodes", nodes)
    for resource in ("pods", "reservations", "podgroups", "poddisruptionbudgets"):
        stage.extender.replace(resource, [])
    return stage


def test_a_plan_is_noted_once_for_each_member_and_a_refused_one_for_who_has_no_place() -> None:
    book = Notes()
    stage = keeping(book, gpu_node("node-1", 2), gpu_node("cpu", 0))
    stage.create(*(gpu_pod(f"m{number}", 1, group="g") for number in range(3)))
    uids = [f"uid-m{number}" for number in range(3)]
    for _ in range(2):
        stage.extender.plan(PlanRequest("default", "g", 2, tuple(uids[:2])))
    assert [(found["verb"], found["uid"], found["node"], found["candidates"]) for found in book.found] == [
        ("plan", "uid-m0", "node-1", 2),
        ("plan", "uid-m1", "node-1", 2),
    ]
    assert book.found[1]["devices"] == [device("node-1", 1)]
    stage.extender.plan(PlanRequest("default", "g", 3, tuple(uids)))
    refused = book.found[-1]
    assert (refused["uid"], refused["error"]) == (
        "uid-m2",
        "m2 has no place, so that none of 3 members starts",
    )
    assert refused["verdicts"] == {"InsufficientGPUs": 2, "NoSuchResource": 1}


def decision(name: str = "p") -> Decision:
    return Decision("filter", "default", name, f"uid-{name}", 1.5)


def lines(path: Path) -> list[Any]:
    return [json.loads(line)["pod"] for line in path.read_text().splitlines()]


def test_each_verb_notes_what_was_asked_and_what_was_decided() -> None:
    book = Notes()
    stage = keeping(book, gpu_node("node-1", 2), gpu_node("node-2", 1), gpu_node("cpu", 0))
    pod = gpu_pod("a", 1)
    pod["metadata"]["annotations"] = {"gpuyard.io/gpu-model": "A100"}
    stage.create(pod)
    stage.filter(pod)
    stage.prioritize(pod, "node-2", "node-1")
    assert stage.bound(pod, "node-2") == ""
    filtered, ranked, bound = book.found
    asks = {"cpu": 1000, "nvidia.com/gpu": 1, "pods": 1}
    same = {"v": 1, "uid": "uid-a", "pod": "default/a", "asks": asks, "wishes": {"models": ["a100"]}}
    assert all({key: note[key] for key in same} == same for note in book.found)
    assert filtered["verdicts"] == {"Passed": 2, "NoSuchResource": 1}
    assert (filtered["candidates"], "node" in filtered) == (3, False)
    place = {"node": "node-2", "devices": [device("node-2", 0)]}
    assert {key: ranked[key] for key in place} == {key: bound[key] for key in place} == place


def test_a_single_survivor_a_refusal_and_victims_are_noted_too() -> None:
    book = Notes()
    stage = keeping(book, gpu_node("node-1", 1))
    low, high = gpu_pod("low"), gpu_pod("high")
    low["spec"]["priority"], high["spec"]["priority"] = 1, 2
    stage.create(low, high)
    stage.filter(low)
    assert book.found[-1]["devices"] == [device("node-1", 0)]
    assert stage.bound(low, "node-1") == ""
    stage.extender.observe("pods", "MODIFIED", stage.server.pods["low"])
    stage.filter(high)
    assert (book.found[-1]["verdicts"], "node" in book.found[-1]) == ({"InsufficientGPUs": 1}, False)
    stage.extender.preempt({"Pod": high, "NodeNameToMetaVictims": {"node-1": {}}})
    assert book.found[-1]["victims"] == {"node-1": ["uid-low"]}
    assert stage.bound(high, "node-1")
    assert (book.found[-1]["error"][:16], "devices" in book.found[-1]) == ("InsufficientGPUs", False)


def test_lines_are_appended_and_a_full_file_makes_place_once(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    for names in ("ab", "c"):
        log = DecisionLog(RotatingFile(path))
        for name in names:
            log.note(decision(name))
        log.close()
    assert lines(path) == ["default/a", "default/b", "default/c"]
    small = RotatingFile(path, most=path.stat().st_size + 10)
    for name in "defgh":
        small.write(json.dumps({"pod": f"default/{name}"}).encode() + b"\n")
    small.close()
    kept = [*lines(tmp_path / "decisions.jsonl.1"), *lines(path)]
    assert kept == [f"default/{name}" for name in "abcdefgh"]
    assert sorted(found.name for found in tmp_path.iterdir()) == ["decisions.jsonl", "decisions.jsonl.1"]


def test_a_full_disk_is_warned_of_once_and_counted_and_no_verb_notices(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = DecisionLog(sink("/dev/full"))
    stage = keeping(log, gpu_node("node-1"))
    with caplog.at_level(logging.WARNING):
        for i in range(5):
            assert stage.filter(gpu_pod(f"p{i}"))["Error"] == ""
        log.close()
    assert (log.written, log.lost) == (0, 5)
    assert [record.message for record in caplog.records] == [
        "decisions cannot be written and are lost: [Errno 28] No space left on device"
    ]
    found = scraped(stage)
    assert (found["decisions_total written"], found["decisions_total lost"]) == (0, 5)


def test_a_disk_that_hangs_costs_decisions_and_not_time(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, came = threading.Event(), threading.Event()

    class Hanging:
        def write(self, _content: bytes) -> None:
            came.set()
            go_on.wait()

        def close(self) -> None:
            pass

    monkeypatch.setattr(decision_log, "_WAITING", 3)
    log = DecisionLog(Hanging())
    log.note(decision())
    came.wait()
    for _ in range(10):
        log.note(decision())
    assert log.lost == 7
    go_on.set()
    log.close()
    assert log.written == 4


def test_a_line_that_was_torn_by_a_failure_ends_before_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "d"
    file = RotatingFile(path)
    whole = file._file

    class Short:
        """Takes three bytes, and then no more."""

        left = 3

        def write(self, content: bytes) -> int:
            if not self.left:
                raise OSError(28, "No space left on device")
            part = content[: self.left]
            self.left = 0
            return int(whole.write(part))

    file._file = Short()  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space"):
        file.write(b'{"a":1}\n')
    file._file = whole
    file.write(b'{"b":2}\n')
    file.close()
    assert path.read_text().splitlines() == ['{"a', '{"b":2}']


def test_amounts_beyond_all_bounds_are_written_as_they_are(tmp_path: Path) -> None:
    log = DecisionLog(sink(str(tmp_path / "d")))
    log.note(Decision("filter", "default", "huge", "uid", 0.0, {"memory": 10**30}))
    log.close()
    assert json.loads((tmp_path / "d").read_text())["asks"] == {"memory": 10**30}


def test_standard_output_takes_the_same_lines(capfd: pytest.CaptureFixture[str]) -> None:
    log = DecisionLog(sink("-"))
    log.note(decision())
    log.close()
    assert json.loads(capfd.readouterr().out)["time"] == 1.5
    assert isinstance(log._sink, Stdout)


def test_without_a_log_there_is_no_metric_of_it() -> None:
    stage = Stage(gpu_node("node-1"))
    call(stage, "GET", "/metrics")
    assert not any(name.startswith("decisions") for name in scraped(stage))
