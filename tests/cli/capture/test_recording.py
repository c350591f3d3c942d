"""What a recording makes of nodes and pods: rows that a replay reads, whatever came."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cli.capture import trace as capture_trace
from gpuyard_cli.capture.recording import Recording
from gpuyard_replay import traces
from gpuyard_replay.traces import InvalidTraceError
from tests.cli.odd import ODD

A100 = "NVIDIA-A100-SXM4-40GB"
START = 1_700_000_000


class Clock:
    """Seconds since the epoch, which the test moves."""

    def __init__(self) -> None:
        self.seconds = START

    def __call__(self) -> float:
        return self.seconds + 0.7


def stamp(seconds: int) -> str:
    return f"2023-11-14T22:{13 + (20 + seconds) // 60:02}:{(20 + seconds) % 60:02}Z"


def node(name: str = "n", model: str = A100, **offered: str) -> JSON:
    labels = {vocabulary.PRODUCT_LABEL: model, "nvidia.com/gpu.count": "8"}
    amounts = {"cpu": "64", "memory": "256Gi", "nvidia.com/gpu": "8"} | offered
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(uid: str = "1", on: str = "", created: int = 0, phase: str = "Running", **limits: str) -> JSON:
    container = {"name": "main", "resources": {"limits": {"cpu": "2", "memory": "1Gi"} | limits}}
    conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(created + 5)}]
    status: JSON = {"phase": phase, "conditions": conditions if on else [], "qosClass": "Burstable"}
    metadata = {"name": "p", "namespace": "team", "uid": uid, "creationTimestamp": stamp(created)}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": [container]}, "status": status}


def rows(recording: Recording, until: int = START + 100) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(capture_trace.pods_csv(recording, until, str))))


def recorded(*pods: JSON, nodes: tuple[JSON, ...] = (node(),)) -> list[dict[str, str]]:
    recording = Recording(Clock())
    recording.replace("nodes", nodes)
    recording.replace("pods", pods)
    return rows(recording)


def asked(*pods: JSON, nodes: tuple[JSON, ...] = (node(),)) -> list[tuple[str, ...]]:
    return [
        tuple(row[key] for key in ("num_gpu", "gpu_milli", "mig_profile"))
        for row in recorded(*pods, nodes=nodes)
    ]


def test_a_running_pod_is_a_row_with_times_from_the_first_pod_on() -> None:
    [row, _] = recorded(pod(on="n", **{"nvidia.com/gpu": "2"}), pod("2", created=10))
    assert row == {
        "name": "team/p", "cpu_milli": "2000", "memory_mib": "1024", "num_gpu": "2", "gpu_milli": "1000",
        "gpu_spec": "", "qos": "Burstable", "pod_phase": "Running", "creation_time": "0", "deletion_time": "100",
        "scheduled_time": "5", "mig_profile": "", "gang": "", "queue": "team", "priority": "0",
    }  # fmt: skip


def test_a_pod_that_waits_has_no_scheduled_time() -> None:
    [row] = recorded(pod(phase="Pending"))
    assert (row["scheduled_time"], row["pod_phase"]) == ("", "Pending")


def test_a_pod_ends_when_its_last_container_ended_or_when_it_was_deleted() -> None:
    clock = Clock()
    recording = Recording(clock)
    recording.replace("pods", [pod(str(i), on="n") for i in range(4)])
    ended = pod("0", on="n", phase="Succeeded")
    ended["status"]["containerStatuses"] = [{"state": {"terminated": {"finishedAt": stamp(30)}}}]
    recording.observe("pods", "MODIFIED", ended)
    clock.seconds += 40
    recording.observe("pods", "DELETED", pod("1", on="n"))
    recording.observe("pods", "DELETED", ended)
    recording.replace("pods", [pod("3", on="n")])  # after a broken watch: 2 is no more there
    assert sorted(row["deletion_time"] for row in rows(recording)) == ["100", "30", "40", "40"]


def test_a_pod_that_does_not_say_when_it_ended_has_ended_when_that_was_seen() -> None:
    clock = Clock()
    recording = Recording(clock)
    for _ in range(2):
        clock.seconds += 40
        recording.observe("pods", "MODIFIED", pod(on="n", phase="Failed"))
    assert [row["deletion_time"] for row in rows(recording)] == ["40"]


def test_a_pod_created_again_under_its_name_is_another_pod() -> None:
    assert [row["name"] for row in recorded(pod("1"), pod("2", created=1))] == ["team/p", "team/p~2"]


SPLIT = "nvidia.com/mig-3g.20gb"


def test_devices_count_as_parts_of_gpus() -> None:
    shared = node("s", "Tesla-T4-SHARED", **{"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "32"})
    shared["metadata"]["labels"] |= {
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
        "nvidia.com/gpu.replicas": "4",
    }
    half = node("m", **{"nvidia.com/gpu": "6", SPLIT: "4"})
    pods = [
        pod("1", on="s", **{"nvidia.com/gpu.shared": "1"}),
        pod("2", **{"nvidia.com/gpu.shared": "2"}),
        pod("3", on="m", **{SPLIT: "1"}),
        pod("4", **{SPLIT: "2"}),
        pod("5", **{SPLIT: "1", "nvidia.com/mig-1g.5gb": "2"}),
        pod("6"),
        pod("7", on="s", **{"nvidia.com/gpu.shared": "1"}),
        pod("8", on="s", **{"nvidia.com/gpu.shared": "1"}),
    ]
    pods[6]["metadata"]["annotations"] = {"gpuyard.io/gpu-milli": "70"}
    pods[7]["metadata"]["annotations"] = {"gpuyard.io/gpu-memory": "1536Mi"}
    assert asked(*pods, nodes=(shared, half)) == [
        ("1", "250", ""),
        ("2", "250", ""),
        ("1", "500", "3g.20gb"),
        ("2", "500", ""),
        ("3", "500", ""),
        ("0", "0", ""),
        ("1", "70", ""),
        ("1", "100", ""),
    ]


def test_models_that_a_pod_insists_on_are_those_that_nodes_have() -> None:
    wish, selector, both = (pod(uid, **{"nvidia.com/gpu": "1"}) for uid in "123")
    wish["metadata"]["annotations"] = {vocabulary.GPU_MODEL: "A100"}
    selector["spec"]["nodeSelector"] = {vocabulary.PRODUCT_LABEL: "Tesla-T4"}
    both["metadata"]["annotations"] = {vocabulary.GPU_MODEL: "B200"}
    nodes = (node("a"), node("b", "NVIDIA-A100-SXM4-80GB"), node("c", "Tesla-T4"))
    assert [row["gpu_spec"] for row in recorded(wish, selector, both, nodes=nodes)] == [
        f"{A100}|NVIDIA-A100-SXM4-80GB",
        "Tesla-T4",
        "b200",
    ]


def test_gang_queue_and_priority_are_recorded() -> None:
    member = pod(**{"nvidia.com/gpu": "1"})
    member["metadata"]["labels"] = {vocabulary.POD_GROUP: "ring"}
    member["spec"]["priority"] = 7
    [row] = recorded(member)
    assert (row["gang"], row["queue"], row["priority"]) == ("team/ring", "team", "7")


def test_a_gang_created_again_after_all_its_pods_have_ended_is_another_gang() -> None:
    recording = Recording(Clock())
    pods = [
        pod(str(i), on="n", created=created, phase="Succeeded") for i, created in enumerate((0, 1, 30, 31))
    ]
    for each, end in zip(pods, (20, 30, 50, 50), strict=True):
        each["metadata"]["labels"] = {vocabulary.POD_GROUP: "ring"}
        each["status"]["containerStatuses"] = [{"state": {"terminated": {"finishedAt": stamp(end)}}}]
    recording.replace("pods", pods)
    assert [row["gang"] for row in rows(recording)] == ["team/ring"] * 2 + ["team/ring~2"] * 2


def test_hashed_names_are_equal_where_names_are_and_say_nothing() -> None:
    recording = Recording(Clock())
    recording.replace("nodes", [node("secret-node")])
    pods = [pod(uid, on="secret-node", **{"nvidia.com/gpu": "1"}) for uid in "12"]
    for each in pods:
        each["metadata"] |= {
            "name": "secret",
            "namespace": "secrets",
            "labels": {vocabulary.POD_GROUP: "secret"},
        }
    recording.replace("pods", pods)
    names = capture_trace.hashed(b"k" * 32)
    text = capture_trace.pods_csv(recording, START, names)
    assert "secret" not in text + capture_trace.nodes_csv(recording, names)
    one, two = csv.DictReader(io.StringIO(text))
    assert (one["gang"], one["queue"], f"{one['name']}~2") == (two["gang"], two["queue"], two["name"])
    assert names("secret") != capture_trace.hashed(b"l" * 32)("secret")


BAD: list[Any] = [
    None,
    [],
    {},
    {"metadata": None},
    {"metadata": {"name": "x", "uid": "x"}, "spec": []},
    {"metadata": {"name": "x", "uid": "x", "labels": 5}, "spec": {"containers": [{}]}},
    pod("x", **{"nvidia.com/gpu": "many"}),
    pod("x", **{"nvidia.com/mig-9g.1gb": "1"}),
    {**pod("x", on="n"), "status": {"conditions": ["?"]}},
    {**pod("x", phase="Failed"), "status": {"phase": "Failed", "containerStatuses": [{"state": 3}]}},
]


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_read_is_noted_once_and_the_rest_is_recorded(bad: Any) -> None:
    recording = Recording(Clock())
    recording.replace("pods", [bad, pod("good")])
    recording.observe("pods", "MODIFIED", bad)
    recording.replace("nodes", [bad, node("good")])
    assert "good" in recording.pods
    assert "good" in recording.nodes
    assert any("cannot be read" in line for line in recording.notes.lines())
    assert len(recording.notes.lines()) <= 2 + 1  # of a pod, of a node, of what the node's labels leave open


def test_amounts_and_names_that_no_trace_has_become_such_that_one_can(tmp_path: Path) -> None:
    huge, less = (
        pod(uid, on="n", cpu=cpu, **{"nvidia.com/gpu": "1"}) for uid, cpu in (("1", "9E"), ("2", "-5"))
    )
    huge["metadata"]["name"] = 'line\nbreak\x00,"\ud800'
    recording = Recording(Clock())
    recording.replace("nodes", [node(cpu="9E")])
    recording.replace("pods", [huge, less])
    file = tmp_path / "pods.csv"
    file.write_text(capture_trace.pods_csv(recording, START, str))
    assert {each.name: each.cpu for each in traces.read_pods(file)} == {
        'team/line break ," ': 10**12 - 1,
        "team/p": 0,
    }
    file.write_text(capture_trace.nodes_csv(recording, str))
    assert [each.cpu for each in traces.read_nodes(file)] == [10**12 - 1]


FIELDS = st.sampled_from(
    [
        ("metadata", "name"), ("metadata", "namespace"), ("metadata", "labels"), ("metadata", "annotations"),
        ("metadata", "creationTimestamp"), ("spec", "nodeName"), ("spec", "containers"), ("spec", "priority"),
        ("spec", "nodeSelector"), ("status", "phase"), ("status", "conditions"), ("status", "containerStatuses"),
        ("status", "allocatable"), ("status", "capacity"), ("status", "qosClass"),
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(changes=st.lists(st.tuples(FIELDS, ODD), min_size=1, max_size=3), ended=st.booleans())
def test_whatever_is_recorded_can_be_replayed(
    changes: list[tuple[tuple[str, str], Any]], ended: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    odd_pod = pod("odd", on="odd", phase="Failed" if ended else "Running", **{"nvidia.com/gpu": "1"})
    odd_node = node("odd")
    for (part, key), value in changes:
        for obj in (odd_pod, odd_node):
            obj.setdefault(part, {})[key] = value
    recording = Recording(Clock())
    recording.replace("nodes", [node(), odd_node])
    recording.observe("pods", "ADDED", odd_pod)
    recording.observe("pods", "ADDED", pod("good", on="n", **{"nvidia.com/gpu": "1"}))
    recording.observe("pods", "DELETED", odd_pod)
    folder: Path = tmp_path_factory.getbasetemp()
    (folder / "pods.csv").write_text(capture_trace.pods_csv(recording, START, str))
    (folder / "nodes.csv").write_text(capture_trace.nodes_csv(recording, str))
    try:
        assert len(traces.read_pods(folder / "pods.csv")) == len(recording.pods)
    except InvalidTraceError as error:
        pytest.fail(str(error))
    assert len(traces.read_nodes(folder / "nodes.csv")) >= 1
