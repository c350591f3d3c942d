"""Instances that are known by their number only, put on GPUs that can hold them."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU
from gpuyard_cli.imported import layouts

A100 = "NVIDIA-A100-SXM4-40GB"
BOARD = mig.BOARDS[mig.board_of(A100).key]  # type: ignore[union-attr]
FULL = [["7g.40gb"], ["3g.20gb"] * 2, ["2g.10gb"] * 3, ["1g.5gb"] * 7, ["4g.20gb", "2g.10gb", "1g.5gb"]]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(FULL), min_size=1, max_size=5))
def test_what_lies_on_gpus_somewhere_finds_its_place_and_none_is_lost(real: list[list[str]]) -> None:
    instances = Counter(name for one in real for name in one)
    found = layouts.spread(A100, instances, len(real)) or layouts.spread(A100, instances, 0)
    assert Counter(name for one in found for name in one) == instances
    for profiles in found:
        gpu = layouts.divided(GPU(0, "GPU-x", A100, 40960), profiles)
        assert mig.legal(BOARD, [(i.profile, i.start, i.size) for i in gpu.instances])


def test_equal_gpus_are_divided_equally() -> None:
    found = layouts.spread(A100, Counter({"1g.5gb": 4, "3g.20gb": 2}), 2)
    assert found == [["1g.5gb", "1g.5gb", "3g.20gb"]] * 2


def test_too_many_for_the_gpus_that_there_are_find_no_place() -> None:
    assert layouts.spread(A100, Counter({"7g.40gb": 3}), 2) == []
    assert layouts.spread("Tesla-T4", Counter({"1g.5gb": 1}), 1) == []


def test_a_resource_without_its_plus_sign_is_the_profile_with_it() -> None:
    assert layouts.wanted(A100, "", {"nvidia.com/mig-1g.5gb.me": 1}) == {"1g.5gb+me": 1}
    assert layouts.wanted(A100, "1g.5gb", {"nvidia.com/gpu": 7}) == {"1g.5gb": 7}
