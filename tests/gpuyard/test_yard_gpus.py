from typing import Any

import pytest

from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU, gpu_uuid, mig_uuid
from gpuyard.yard_fields import InvalidYardError
from gpuyard.yard_gpus import gpus_of, with_instances
from tests.gpuyard.builders import A100


def preset(topology: str | None = None, count: object = 8) -> list[tuple[int, int, int | None]]:
    wish = {"model": A100, "count": count} | ({"topology": topology} if topology else {})
    return [(gpu.numa, gpu.switch, gpu.nvlink) for gpu in gpus_of("node-1", wish, "gpus")]


def test_presets_lay_out_numa_nodes_switches_and_nvlink() -> None:
    assert preset() == preset("none") == [(0, 0, None)] * 8
    assert preset("numa-halves") == [(0, 0, None)] * 4 + [(1, 1, None)] * 4
    assert preset("numa-halves", 3) == [(0, 0, None)] * 2 + [(1, 1, None)]
    assert preset("nvswitch", 2) == [(0, 0, 0), (1, 1, 0)]
    assert preset(count=0) == []


def test_gpus_have_the_ids_and_memory_of_their_node_and_model() -> None:
    first = gpus_of("node-1", {"model": "NVIDIA A30", "count": 1}, "gpus")[0]
    assert first == GPU(0, gpu_uuid("node-1", 0), "NVIDIA-A30", 24576)


def test_single_gpus_are_listed_by_index() -> None:
    listed = [
        {"model": A100, "index": 1, "numa": 1, "switch": 2, "nvlink": 3, "memoryMiB": 5},
        {"model": A100, "index": 0},
    ]
    found = gpus_of("n", listed, "gpus")
    assert [gpu.index for gpu in found] == [0, 1]
    assert (found[1].numa, found[1].switch, found[1].nvlink, found[1].memory_mib) == (1, 2, 3, 5)
    assert (found[0].nvlink, found[0].memory_mib) == (None, 40960)
    assert [gpu.index for gpu in gpus_of("n", [{"model": A100}, {"model": A100}], "gpus")] == [0, 1]


def test_instances_lie_where_the_tables_allow_and_have_lasting_ids() -> None:
    gpus = gpus_of("n", {"model": A100, "count": 2}, "gpus")
    plain, split = with_instances(gpus, [{"gpus": [1], "instances": {"1g.5gb": 4, "3g.20gb": 1}}], "mig")
    assert not plain.mig_enabled
    assert split.mig_enabled
    assert [(found.profile, found.start) for found in split.instances] == [
        *[("1g.5gb", start) for start in range(4)],
        ("3g.20gb", 4),
    ]
    board = mig.board_of(A100)
    assert board is not None
    assert split.instances[4].uuid == mig_uuid(split.uuid, mig.instance_id(board, 4, 4))
    assert len({found.uuid for found in split.instances}) == 5


def test_mig_mode_without_instances_is_possible() -> None:
    gpus = gpus_of("n", {"model": A100, "count": 1}, "gpus")
    found = with_instances(gpus, [{"gpus": [0], "instances": {"1g.5gb": 0}}], "mig")
    assert (found[0].mig_enabled, found[0].instances) == (True, ())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            {"model": "NVIDIA-X", "count": 1},
            r"gpus\.model: 'NVIDIA-X' is not a known GPU model; use NVIDIA-A100",
        ),
        ({"model": A100, "count": -1}, r"gpus\.count: -1 is not a count"),
        ({"model": A100, "count": 1.5}, r"gpus\.count: 1\.5 is not a count"),
        ({"model": A100, "count": True}, r"gpus\.count: True is not a count"),
        ({"model": A100}, r"gpus\.count: is missing"),
        ({"model": A100, "count": 1, "topology": "ring"}, r"gpus\.topology: 'ring' is unknown; use none"),
        ({"model": A100, "count": 1, "size": 1}, r"gpus\.size: unknown key"),
        ([{"model": A100}, {"model": A100, "index": 0}], r"gpus: two GPUs have index 0"),
        ([{"index": 0}], r"gpus\[0\]\.model: is missing"),
        ([{"model": A100, "numa": "0"}], r"gpus\[0\]\.numa: '0' is not a count"),
        ("eight", r"gpus: 'eight' is not a mapping"),
    ],
)
def test_bad_gpus_are_refused_by_field(bad: Any, message: str) -> None:
    with pytest.raises(InvalidYardError, match=message):
        gpus_of("n", bad, "gpus")


@pytest.mark.parametrize(
    ("model", "bad", "message"),
    [
        (A100, [{"gpus": [9], "instances": {}}], r"mig\[0\]\.instances: is missing|9: no such GPU"),
        (A100, [{"gpus": [True], "instances": {"1g.5gb": 1}}], r"mig\[0\]\.gpus: True: no such GPU"),
        (A100, [{"gpus": [0, 0], "instances": {"1g.5gb": 1}}], r"mig\[0\]\.gpus: 0: has a layout already"),
        (
            A100,
            [{"gpus": [0], "instances": {"1g.6gb": 1}}],
            r"mig\[0\]\.instances\.1g\.6gb: .* has no such profile",
        ),
        (
            A100,
            [{"gpus": [0], "instances": {"1g.5gb": 8}}],
            r"mig\[0\]\.instances: .* cannot hold 8 x 1g\.5gb",
        ),
        (A100, [{"gpus": [0], "instances": {"1g.5gb": 10**9}}], r"mig\[0\]\.instances: .* cannot hold"),
        (
            A100,
            [{"gpus": [0], "instances": {"1g.5gb": -1}}],
            r"mig\[0\]\.instances\.1g\.5gb: -1 is not a count",
        ),
        (
            "Tesla-T4",
            [{"gpus": [0], "instances": {"1g.5gb": 1}}],
            r"mig\[0\]\.instances: Tesla-T4 has no MIG",
        ),
        (A100, {"gpus": [0]}, r"mig: .* is not a list"),
    ],
)
def test_bad_layouts_are_refused_by_field(model: str, bad: Any, message: str) -> None:
    with pytest.raises(InvalidYardError, match=message):
        with_instances(gpus_of("n", {"model": model, "count": 1}, "gpus"), bad, "mig")
