"""Files of a trace: read as they are, or refused with place and remedy."""

import gzip
from pathlib import Path

import pytest

from gpuyard_replay import arrivals, sources, traces
from gpuyard_replay.sources import Source
from gpuyard_replay.traces import InvalidTraceError, Order, TraceNode, TracePod

SMALL = Path(__file__).parents[2] / "replay" / "traces" / "small"
HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"


def pods(folder: Path, *lines: str) -> Path:
    path = folder / "pods.csv"
    path.write_text(HEAD + "\n".join(lines))
    return path


def test_pods_are_read_by_name_with_their_models_and_without_gpus(tmp_path: Path) -> None:
    path = pods(tmp_path, "b,4000,8192,1,500,V100M16|V100M32", "a,1000,1024,0,0,")
    assert traces.read_pods(path) == (
        TracePod("a", 1000, 1024, 0, 0),
        TracePod("b", 4000, 8192, 1, 500, ("V100M16", "V100M32")),
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("p,many,1,1,1000,", "pods.csv:2: cpu_milli is 'many', "),
        ("p,1,1,1,1001,", "pods.csv:2: gpu_milli is 1001, but"),
        ("p,1,-1,1,1000,", "memory_mib is '-1'"),
        (f"p,{'9' * 30},1,1,1000,", "up to 12 digits"),
        ("p,1", "memory_mib is ''"),
        ("p,1,1,0,0,", "no pod asks for a GPU; name"),
    ],
)
def test_bad_pods_are_refused_with_line_and_remedy(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(InvalidTraceError) as raised:
        traces.read_pods(pods(tmp_path, line))
    assert why in str(raised.value)


@pytest.mark.parametrize(
    "content", [b"", b"name\n", b"\xff\xfe", HEAD.encode() + b'"', b"\x1f\x8b", b"a" * 200_000 + b",\n"]
)
def test_what_is_no_trace_is_refused(tmp_path: Path, content: bytes) -> None:
    for name in ("pods.csv", "pods.gz"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidTraceError):
            traces.read_pods(tmp_path / name)


def test_an_order_gives_arrivals_and_ranks_and_must_belong_to_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "order.csv.gz"
    path.write_bytes(gzip.compress(b"N,n1,1\nN,n0,0\nP,b\nP,a\nP,b\n"))
    order = traces.read_order(path)
    assert order == Order(("b", "a", "b"), {"n1": 1, "n0": 0})
    nodes = [TraceNode(name, 1, 1, 1, "A") for name in ("n0", "n1")]
    known = [TracePod(name, 1, 1, 1, 1000) for name in ("a", "b")]
    came, ranks = arrivals.ordered(order, known, nodes)
    assert ([pod.name for pod in came], ranks) == (["b", "a", "b"], [0, 1])
    with pytest.raises(InvalidTraceError, match="differ on b"):
        arrivals.ordered(order, known[:1], nodes)


def test_arrivals_are_all_pods_then_clones_up_to_the_limit_and_the_same_for_a_seed() -> None:
    scene = sources.drawn(Source(SMALL / "pods.csv", until=200), 7)
    names = [pod.name for pod in scene.arrivals]
    assert sorted(names[: len(scene.known)]) == [pod.name for pod in scene.known]
    capacity = 1000 * sum(node.gpus for node in scene.nodes)
    assert 1.9 * capacity < sum(pod.gpu_milli for pod in scene.arrivals) < 2.1 * capacity
    assert names == [pod.name for pod in sources.drawn(Source(SMALL / "pods.csv", until=200), 7).arrivals]
    assert names != [pod.name for pod in sources.drawn(Source(SMALL / "pods.csv", until=200), 8).arrivals]


def test_pods_are_left_out_where_the_trace_asks_for_more_than_the_limit() -> None:
    scene = sources.drawn(Source(SMALL / "pods.csv", until=20), 7)
    assert sum(pod.gpu_milli for pod in scene.arrivals) <= 200 * sum(node.gpus for node in scene.nodes)


def test_nodes_are_looked_for_beside_the_trace(tmp_path: Path) -> None:
    path = pods(tmp_path, "p,1,1,1,1000,")
    with pytest.raises(InvalidTraceError, match="--nodes"):
        sources.drawn(Source(path), 1)
