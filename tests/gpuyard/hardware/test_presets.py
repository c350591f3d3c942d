"""The usual machines, as nodes of a yard."""

import re
from typing import Any

import pytest

from gpuyard import yard
from gpuyard.hardware import topology
from gpuyard.hardware.presets import presets
from gpuyard.yard import InvalidYardError, YardNode


def node(**entry: Any) -> YardNode:
    return yard.parse({"nodes": [{"name": "n", **entry}]})[0]


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_a_node_with_gpus_and_says_what_it_is(name: str) -> None:
    found = node(preset=name)
    model, memory = found.gpus[0].model, found.gpus[0].memory_mib
    assert {(gpu.model, gpu.memory_mib) for gpu in found.gpus} == {(model, memory)}
    assert presets()[name].about.startswith(f"{len(found.gpus)} x ")
    assert not re.fullmatch(r".+x\d+", name)  # NAMExCOUNT stays readable


@pytest.mark.parametrize("name", ["dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200"])
def test_the_gpus_of_a_dgx_hang_on_one_nvswitch(name: str) -> None:
    gpus = node(preset=name).gpus
    assert len(gpus) == 8
    assert {topology.nearness(gpus[0], gpu) for gpu in gpus[1:]} == {topology.NVLINK}


def test_a_dgx_a100_has_its_numa_nodes_in_the_order_that_real_ones_show() -> None:
    assert [gpu.numa for gpu in node(preset="dgx-a100").gpus] == [3, 3, 1, 1, 7, 7, 5, 5]


@pytest.mark.parametrize("name", ["l40s", "t4"])
def test_pcie_cards_share_no_more_than_their_numa_node(name: str) -> None:
    gpus = node(preset=name).gpus
    half = len(gpus) // 2
    near = {topology.nearness(gpus[0], gpu) for gpu in gpus[1:half]}
    assert (near, topology.nearness(gpus[0], gpus[half])) == ({topology.NUMA}, topology.FAR)


@pytest.mark.parametrize("name", ["a100-mig", "h100-mig"])
def test_a_split_gpu_is_full(name: str) -> None:
    found = node(preset=name)
    assert found.plugin_config["flags"] == {"migStrategy": "mixed"}
    for gpu in found.gpus:
        assert sorted(i.profile for i in gpu.instances) == ["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"]


def test_what_a_node_says_itself_counts_more_than_its_preset() -> None:
    found = node(preset="dgx-h100", capacity={"cpu": "8"}, labels={"rack": "r1"}, gpus=[])
    assert found.capacity == {"cpu": "8", "memory": "2Ti", "pods": "110"}
    assert (found.labels, found.gpus) == ({"rack": "r1"}, ())


def test_an_unknown_preset_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(InvalidYardError, match=r"nodes\[0\]\.preset: 'dgx' is unknown; use dgx-a100, "):
        node(preset="dgx")
