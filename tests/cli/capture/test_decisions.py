"""What the extender's log of decisions tells of pods that are gone, as rows that a replay reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard_cli.capture import decisions as capture_decisions
from gpuyard_cli.capture import trace as capture_trace
from gpuyard_cli.capture.recording import Recording
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_replay import traces
from gpuyard_replay.columns import Lifetime
from gpuyard_replay.traces import InvalidTraceError, TracePod
from tests.cli.capture.test_recording import START, node, pod
from tests.cli.odd import ODD


def decision(verb: str, uid: str, second: int, **more: Any) -> str:
    asks = {"cpu": 2000, "memory": 2**30, "nvidia.com/gpu": 1, "pods": 1}
    line = {"v": 1, "time": START + second + 0.25, "verb": verb, "uid": uid, "pod": f"team/{uid}"}
    return json.dumps({**line, "asks": asks, "candidates": 1, **more})


def bound(uid: str, second: int, *devices: str, **more: Any) -> str:
    return decision("bind", uid, second, node="n", devices=devices, **more)


def captured(folder: Path, *lines: str, live: tuple[Any, ...] = (), before: str = "") -> dict[str, TracePod]:
    recording = Recording(lambda: START + 1000.0)
    recording.replace("nodes", [node()])
    recording.replace("pods", live)
    log = folder / "log"
    log.write_text("\n".join(lines) + "\n")
    if before:
        (folder / "log.1").write_text(before + "\n")
    capture_decisions.add(recording, log)
    (folder / "pods.csv").write_text(capture_trace.pods_csv(recording, START + 1000, str))
    return {each.name: each for each in traces.read_pods(folder / "pods.csv")}


def test_a_pod_came_with_its_first_decision_and_started_with_its_binding(tmp_path: Path) -> None:
    again = [decision("filter", "a", 5), decision("prioritize", "a", 5), bound("a", 8, "G", error="conflict")]
    [found] = captured(tmp_path, decision("filter", "a", 0), *again, bound("a", 9, "G")).values()
    assert (found.name, found.cpu, found.memory, found.count, found.milli) == ("team/a", 2000, 1024, 1, 1000)
    assert found.lifetime == Lifetime(0), "nobody knows when it ended"


def test_it_ended_at_the_latest_when_another_got_one_of_its_devices(tmp_path: Path) -> None:
    found = captured(tmp_path, bound("a", 0, "G", "H"), bound("b", 60, "H"), bound("c", 90, "G"))
    assert {name: each.lifetime for name, each in found.items()} == {
        "team/a": Lifetime(0, 60),
        "team/b": Lifetime(60),
        "team/c": Lifetime(90),
    }


def test_of_pods_that_are_there_the_cluster_tells_more(tmp_path: Path) -> None:
    there = pod("b", on="n", created=0, **{"nvidia.com/gpu": "4"})
    found = captured(tmp_path, bound("a", 0, "G"), bound("b", 60, "G"), live=(there,))
    assert {name: each.count for name, each in found.items()} == {"team/a": 1, "team/p": 4}
    assert found["team/a"].lifetime == Lifetime(0, 60)


def test_a_share_is_as_large_as_the_pod_said(tmp_path: Path) -> None:
    share = decision("filter", "a", 0, wishes={"shareMilli": 300, "shareMiB": 4096})
    greedy = decision("filter", "b", 0, wishes={"shareMiB": 2**30})
    assert {name: each.milli for name, each in captured(tmp_path, share, greedy).items()} == {
        "team/a": 300,
        "team/b": 1000,
    }


def test_models_that_a_pod_wished_for_and_the_file_before_are_read_too(tmp_path: Path) -> None:
    wished = decision("filter", "b", 5, wishes={"models": ["a100"]})
    found = captured(tmp_path, wished, before=decision("filter", "a", 0))
    assert {name: each.models for name, each in found.items()} == {
        "team/a": (),
        "team/b": ("NVIDIA-A100-SXM4-40GB",),
    }


@settings(deadline=None, max_examples=60)
@given(
    field=st.sampled_from(["v", "time", "verb", "uid", "pod", "asks", "wishes", "node", "devices"]),
    odd=ODD
    | st.dictionaries(
        st.sampled_from(["shareMilli", "shareMiB", "models", vocabulary.GPU, "cpu"]),
        ODD | st.sampled_from([-5, -(10**30), 10**4000]),
        min_size=1,
    ),
)
@example("wishes", {"shareMilli": -5})
@example("wishes", {"shareMiB": -5})
def test_whatever_a_line_says_the_others_count(
    tmp_path_factory: pytest.TempPathFactory, field: str, odd: Any
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    strange = json.dumps({**json.loads(bound("b", 5, "G")), field: odd})
    try:
        found = captured(folder, decision("filter", "a", 0), "{", "[]", "a line of the other log", strange)
    except InvalidTraceError as error:
        pytest.fail(str(error))
    assert found["team/a"].cpu == 2000


def test_a_log_that_cannot_be_read_is_one_line_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInputError, match=r"no: No such file or directory; name a file that gpuyard-ext"
    ):
        capture_decisions.add(Recording(lambda: 0.0), tmp_path / "no")
