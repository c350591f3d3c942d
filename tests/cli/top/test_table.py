"""The lines of `gpuyard top`: what people see, in any terminal."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware.gpus import GPU
from gpuyard_cli.top.rows import CountRow, GpuRow, NodeRow, Owner, View
from gpuyard_cli.top.table import lines

MODEL = "NVIDIA-A100-SXM4-40GB"


def gpu(
    index: int = 0,
    *owners: Owner,
    xid: int | None = None,
    of: tuple[int, int] | None = None,
    slices: str = "",
) -> GpuRow:
    free, total = of or (int(not owners), 1)
    return GpuRow(
        GPU(index, f"GPU-{index}", MODEL, 40960, nvlink=0, healthy=xid is None),
        xid,
        free,
        total,
        slices,
        owners,
    )


def node(name: str, *rows: GpuRow, marks: tuple[str, ...] = ()) -> NodeRow:
    return NodeRow(name, marks, rows)


YARD = View(
    (
        node("a", gpu(0, Owner("team/one")), gpu(1, xid=79), marks=("rack r1", "cordoned")),
        node("b", gpu(0, Owner("team/two", "1g.5gb", 2, planned=True), of=(1, 3), slices="##-.....")),
        NodeRow("c", (), counts=(CountRow("nvidia.com/gpu", 5, 8, 1, (Owner("team/x", count=2),)),)),
    ),
    waiting=2,
)


def test_every_gpu_has_a_line() -> None:
    assert lines(YARD) == [
        "3 nodes, 3 GPUs: 1 in part, 1 taken, 1 unhealthy; 8 devices known by count; 2 pods without a node",
        "  GPU  NUMA  NVLINK  HEALTH       FREE  SLICES    OWNER",
        f"a: 2 x {MODEL}, rack r1, cordoned",
        "  0    0     0       ok           0/1             team/one",
        "  1    0     0       XID 79       1/1             -",
        f"b: 1 x {MODEL}",
        "  0    0     0       ok           1/3   ##-.....  team/two (2 x 1g.5gb planned)",
        "c: 8 nvidia.com/gpu",
        "  any                1 unhealthy  5/8             nvidia.com/gpu: team/x (2 x)",
    ]


def test_nodes_have_a_line_each_where_their_gpus_do_not_fit() -> None:
    assert lines(YARD, 100, 7, "q ends") == [
        "3 nodes, 3 GPUs: 1 in part, 1 taken, 1 unhealthy; 8 devices known by count; 2 pods without a node",
        "NODES  STATE     GPUS                                          OWNERS",
        f"a      #X        2 x {MODEL}, rack r1, cordoned  team/one",
        f"b      +         1 x {MODEL}                     team/two",
        "c      ##.....X  8 nvidia.com/gpu                              team/x",
        ". free  + in part  # taken  X unhealthy",
        "q ends",
    ]
    assert lines(YARD, 100, 5)[-1] == "and 2 more lines: --node NAME shows one node"


def test_a_thousand_nodes_that_look_alike_have_one_line() -> None:
    alike = View(tuple(node(f"n{i:03}", *map(gpu, range(8))) for i in range(1000)))
    assert lines(alike, 80, 24) == [
        "1000 nodes, 8000 GPUs: 8000 free",
        "NODES               STATE     GPUS                       OWNERS",
        f"1000: n000 to n999  ........  8 x {MODEL}",
        ". free  + in part  # taken  X unhealthy",
    ]


def test_many_owners_are_counted_and_lost_links_told() -> None:
    shared = gpu(0, *(Owner(f"team/{i}") for i in range(6)), of=(2, 8))
    cut = GpuRow(GPU(1, "x", MODEL, 1, nvlink=0, lost_links=(0, 3)), 31, 1, 1, "", ())
    *_, first, second = lines(View((node("n", shared, cut),)))
    assert first.endswith("6 pods: team/0, team/1, team/2, team/3 and 2 more")
    assert " 0 not 0,3  ok, XID 31 " in second


def test_a_narrow_terminal_keeps_owners_and_loses_topology() -> None:
    head = [lines(YARD, width)[1].split() for width in (80, 60, 50)]
    assert head[0] == ["GPU", "NUMA", "NVLINK", "HEALTH", "FREE", "SLICES", "OWNER"]
    assert head[1] == ["GPU", "HEALTH", "FREE", "SLICES", "OWNER"]
    assert head[2] == ["GPU", "HEALTH", "FREE", "OWNER"]


TEXTS = st.sampled_from(["", "team/one", "\x1b[2J", "näme", "\u202e", "\n", "節点", "n" * 50])
OWNERS = st.builds(Owner, TEXTS, TEXTS, st.integers(1, 9), st.booleans())
GPUS = st.builds(
    GpuRow,
    st.builds(GPU, st.integers(), TEXTS, TEXTS, st.integers(), healthy=st.booleans()),
    st.none() | st.integers(0, 999),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(["", "#-......"]),
    st.lists(OWNERS, max_size=5).map(tuple),
)
COUNTS = st.builds(
    CountRow,
    TEXTS,
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 9),
    st.lists(OWNERS, max_size=2).map(tuple),
)
NODES = st.builds(
    NodeRow,
    TEXTS,
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(GPUS, max_size=3).map(tuple),
    st.lists(COUNTS, max_size=2).map(tuple),
    st.lists(OWNERS, max_size=2).map(tuple),
)


@settings(deadline=None, max_examples=80)
@given(
    nodes=st.lists(NODES, max_size=4).map(tuple),
    width=st.integers(1, 120),
    height=st.integers(1, 40),
    foot=st.sampled_from(["", "q ends"]),
)
def test_no_line_is_too_long_nor_one_too_many_and_none_commands_the_terminal(
    nodes: tuple[NodeRow, ...], width: int, height: int, foot: str
) -> None:
    found = lines(View(nodes, 1, 1), width, height, foot)
    assert 1 <= len(found) <= height
    assert all(len(line) <= width and line.replace("…", "").isascii() for line in found)
    assert all(map(str.isprintable, found))
