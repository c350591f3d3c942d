"""Which nodes `gpuyard up` starts with."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from gpuyard.hardware.presets import presets
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.up import nodes as up_nodes
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory


def names(**chosen: Any) -> list[str]:
    nothing = {"from_file": None, "nodes": None, "mixed": False, "preset": None}
    return [node.name for node in up_nodes.chosen(argparse.Namespace(**{**nothing, **chosen})).nodes]


def test_without_a_wish_there_are_two_machines() -> None:
    assert names() == ["dgx-h100-1", "dgx-h100-2"]


def test_presets_are_counted_and_may_come_again() -> None:
    assert names(preset=["t4x2", "dgx-a100", "t4"]) == ["t4-1", "t4-2", "t4-3", "dgx-a100-1"]


def test_mixed_is_one_of_each() -> None:
    assert names(mixed=True) == [f"{name}-1" for name in presets()]


def test_a_file_names_its_own(tmp_path: Path) -> None:
    file = tmp_path / "yard.yaml"
    file.write_text("nodes: [{name: a, preset: t4}, {name: b}]")
    assert names(nodes=file) == ["a", "b"]


@pytest.mark.parametrize("name", presets())
def test_the_device_plugin_takes_every_preset(name: str) -> None:
    (node,) = up_nodes.of_presets([name])
    assert node_inventory.build(node.gpus, config.parse(node.plugin_config)).devices()


@pytest.mark.parametrize("text", ["t4x", "xt4", "t4x-1", "t4x2x3", "T4", "", "x4"])
def test_what_is_no_preset_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is unknown; use dgx-a100"):
        up_nodes.of_presets([text])
