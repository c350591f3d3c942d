import dataclasses
import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.annotations import read_allocation, read_inventory, write_allocation, write_inventory
from gpuyard.hardware.gpus import GPU, Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.hardware.topology import NVLINK, linked_sets, nearness
from tests.gpuyard.builders import GPU_RESOURCE, gpus, split

TEXT = st.text(max_size=8)
WHOLE = st.integers(-5, 10**9)
ALLOCATIONS = st.dictionaries(
    TEXT, st.dictionaries(TEXT, st.lists(TEXT, max_size=3).map(tuple), max_size=2), max_size=3
)
INSTANCES = st.builds(Instance, TEXT, st.integers(0, 32), st.integers(1, 32), TEXT)
GPUS = st.builds(
    GPU,
    WHOLE,
    TEXT,
    TEXT,
    WHOLE,
    WHOLE,
    WHOLE,
    st.none() | WHOLE,
    st.booleans(),
    st.booleans(),
    st.lists(INSTANCES, max_size=2).map(tuple),
    # To GPUs that are not there: to others they would be told of these, too.
    st.sets(st.integers(2 * 10**9, 3 * 10**9), max_size=2).map(lambda found: tuple(sorted(found))),
)
INVENTORIES = st.builds(
    Inventory,
    st.lists(GPUS, max_size=3, unique_by=lambda gpu: gpu.index).map(tuple),
    st.builds(
        Sharing,
        st.sampled_from(SharingMode),
        st.integers(1, 1000),
        st.booleans(),
        st.dictionaries(TEXT, st.integers(1, 1000), max_size=2).map(
            lambda found: tuple(sorted(found.items()))
        ),
    ),
    st.sampled_from(MigStrategy),
)


@settings(deadline=None, max_examples=50)
@given(allocation=ALLOCATIONS)
def test_an_allocation_is_read_as_it_was_written(allocation: dict[str, dict[str, tuple[str, ...]]]) -> None:
    assert read_allocation(write_allocation(allocation)) == allocation


@settings(deadline=None, max_examples=50)
@given(inventory=INVENTORIES)
def test_an_inventory_is_read_as_it_was_written(inventory: Inventory) -> None:
    assert read_inventory(write_inventory(inventory)) == inventory


def test_the_text_is_canonical() -> None:
    one = {"b": {GPU_RESOURCE: ("2", "1")}, "a": {}}
    assert write_allocation(one) == write_allocation({"a": {}, "b": one["b"]})
    assert write_allocation(one) == '{"containers":{"a":{},"b":{"nvidia.com/gpu":["2","1"]}},"v":1}'
    assert json.loads(write_inventory(Inventory()))["fake"] is True


def test_a_reader_of_the_version_before_finds_nothing_new_where_nothing_new_is_used() -> None:
    sharing = Sharing(SharingMode.TIME_SLICING, 2)
    assert "lostLinks" not in write_inventory(Inventory(gpus(2, nvlink=True)))
    assert '"instances":{' not in write_inventory(Inventory(gpus(2), sharing))


def test_unknown_keys_are_ignored() -> None:
    document = json.loads(write_inventory(Inventory(gpus(1))))
    document["gpus"][0]["colour"] = document["colour"] = "green"
    assert read_inventory(json.dumps(document)) == Inventory(gpus(1))


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", "5", '{"v":2}', '{"v":1}', "[" * 10**5, '{"v":1,"gpus":[{}]}']
)
def test_what_cannot_be_used_is_nothing(text: str | None) -> None:
    assert read_allocation(text) is None
    assert read_inventory(text) is None


@pytest.mark.parametrize("containers", [[], {"a": []}, {"a": {"r": "id"}}, {"a": {"r": [1]}}, {"a": None}])
def test_an_allocation_of_another_shape_is_nothing(containers: Any) -> None:
    assert read_allocation(json.dumps({"v": 1, "containers": containers})) is None


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("index", "0"),
        ("index", True),
        ("uuid", 5),
        ("memoryMiB", 1.5),
        ("healthy", "yes"),
        ("nvlink", "0"),
        ("instances", [{}]),
        ("instances", None),
        ("instances", [5]),
    ],
)
def test_an_inventory_with_one_bad_value_is_nothing(key: str, bad: Any) -> None:
    document = json.loads(write_inventory(Inventory((split(gpus(1)[0], "1g.5gb"),))))
    document["gpus"][0][key] = bad
    assert read_inventory(json.dumps(document)) is None


@pytest.mark.parametrize(
    ("key", "bad"), [("migStrategy", "other"), ("sharing", None), ("sharing", {"mode": "none"}), ("gpus", 5)]
)
def test_an_inventory_with_a_bad_setting_is_nothing(key: str, bad: Any) -> None:
    document = json.loads(write_inventory(Inventory()))
    assert read_inventory(json.dumps({**document, key: bad})) is None


@pytest.mark.parametrize(("start", "size"), [(0, 10**12), (10**12, 1), (-1, 2), (0, 0), (3, -1), (0, True)])
def test_an_inventory_with_an_instance_where_no_gpu_has_slices_is_nothing(start: int, size: int) -> None:
    whole = GPU(0, "GPU-0", "NVIDIA-A100-SXM4-40GB", 40960, mig_enabled=True)
    cut = dataclasses.replace(whole, instances=(Instance("1g.5gb", 0, 1, "MIG-0"),))
    document = json.loads(write_inventory(Inventory((cut,))))
    assert read_inventory(json.dumps(document)) is not None
    document["gpus"][0]["instances"][0] |= {"start": start, "size": size}
    assert read_inventory(json.dumps(document)) is None


def test_an_inventory_that_stands_for_more_devices_than_any_node_has_is_nothing() -> None:
    document = json.loads(write_inventory(Inventory(gpus(1), Sharing(SharingMode.TIME_SLICING, 2))))
    document["sharing"]["replicas"] = 1_000_000_000
    assert read_inventory(json.dumps(document)) is None


@pytest.mark.parametrize("replicas", [0, -1])
def test_an_inventory_that_shares_a_gpu_among_nobody_is_nothing(replicas: int) -> None:
    assert read_inventory(write_inventory(Inventory(gpus(1), Sharing(SharingMode.MPS, replicas)))) is None


def test_half_a_surrogate_pair_is_no_text() -> None:
    whole = write_allocation({"a": {"r": ("\U0001f600",)}})
    assert "\\ud83d\\ude00" in whole
    assert read_allocation(whole) == {"a": {"r": ("\U0001f600",)}}
    assert read_allocation(whole.replace("\\ude00", "")) is None
    inventory = write_inventory(Inventory((GPU(0, "GPU-0", "m", 1),)))
    assert read_inventory(inventory.replace("GPU-0", "\\udc00")) is None


@given(st.lists(st.lists(st.integers(-1, 9), max_size=4), min_size=1, max_size=6))
def test_a_link_that_one_end_has_lost_is_lost_for_both_whatever_an_inventory_says(
    lost: list[list[int]],
) -> None:
    told = zip(gpus(len(lost), nvlink=True), lost, strict=True)
    yard = tuple(dataclasses.replace(gpu, lost_links=tuple(others)) for gpu, others in told)
    found = read_inventory(write_inventory(Inventory(yard)))
    assert found is not None
    for a, b in combinations(found.gpus, 2):
        cut = b.index in lost[a.index] or a.index in lost[b.index]
        assert (nearness(a, b) == NVLINK) == (nearness(b, a) == NVLINK) == (not cut)
    assert set().union(*linked_sets(found.gpus)) == set(range(len(lost))), "each with itself at least"
