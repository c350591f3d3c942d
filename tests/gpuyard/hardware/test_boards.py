import json
from importlib import resources

import pytest

from gpuyard.hardware.boards import BOARDS, board_of, managed_resources, product_label, profile_names


def test_a_board_is_found_by_product_name_and_by_label() -> None:
    board = board_of("NVIDIA-A100-SXM4-40GB")
    assert board is not None
    assert board is board_of("NVIDIA A100-SXM4-40GB") is board_of("NVIDIA-A100-PCIE-40GB")
    assert (board.memory_slices, board.compute_slices) == (8, 7)


@pytest.mark.parametrize("model", ["Tesla-T4", "NVIDIA-L40S", ""])
def test_a_model_without_mig_has_no_board(model: str) -> None:
    assert board_of(model) is None


def test_labels_are_written_as_gpu_feature_discovery_writes_them() -> None:
    assert product_label("NVIDIA H100 80GB HBM3 (rev. a1)") == "NVIDIA-H100-80GB-HBM3-rev.-a1"


def test_an_instance_shows_the_memory_that_was_seen_on_hardware() -> None:
    seen = {
        "NVIDIA-H100-NVL": {"3g.47gb": 47488, "1g.24gb": 22144, "1g.12gb": 11008},
        "NVIDIA-A30": {"2g.12gb": 11968},
    }
    for model, profiles in seen.items():
        board = board_of(model)
        assert board is not None
        for name, memory in profiles.items():
            profile = board.profile(name)
            assert profile is not None
            assert profile.memory_mib == memory


def test_every_placement_lies_on_its_board() -> None:
    for board in BOARDS.values():
        for profile in board.profiles:
            assert profile.placements
            for start, size in profile.placements:
                assert size == profile.memory_slices
                assert 0 <= start <= board.memory_slices - size


def test_managed_resources_name_every_profile_sorted_and_legally() -> None:
    names = managed_resources()
    assert list(names) == sorted(set(names))
    assert len(names) == 2 * (len(profile_names()) + 1)
    assert {name for name in names if name.endswith(".shared")} == {
        f"{name}.shared" for name in names if not name.endswith(".shared")
    }
    assert {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb.me"} <= set(names)
    assert not any("+" in name or len(name) > 63 for name in names)


def test_every_number_has_a_source_and_a_confidence() -> None:
    document = json.loads(resources.files("gpuyard").joinpath("data/mig.json").read_text("utf-8"))
    profiles = [profile for board in document["boards"] for profile in board["profiles"]]
    assert len(profiles) == 93
    for profile in profiles:
        assert set(profile["sources"]) <= set(document["sources"])
        assert profile["sources"]
        assert set(profile["confidence"].values()) <= set(document["confidence_values"])
