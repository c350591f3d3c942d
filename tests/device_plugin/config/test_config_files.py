"""A node gets the configuration that its label names."""

from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard_device_plugin.config.config_files import SetupError, chosen

LABEL = vocabulary.PLUGIN_CONFIG


def folder(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).write_text("version: v1")
    (path / "..2026_01_01").mkdir()
    return path


def test_the_label_chooses(tmp_path: Path) -> None:
    several = folder(tmp_path, "default", "shared")
    assert chosen(several, {LABEL: "shared"}) == several / "shared"
    assert chosen(several, {}) == several / "default"


def test_without_a_label_the_only_one_counts_and_of_several_none(tmp_path: Path) -> None:
    assert chosen(folder(tmp_path, "a"), {}) == tmp_path / "a"
    (tmp_path / "b").write_text("")
    assert chosen(tmp_path, {}) is None


def test_one_file_is_for_every_node(tmp_path: Path) -> None:
    file = folder(tmp_path, "a") / "a"
    assert chosen(file, {LABEL: "b"}) == file


def test_a_name_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no configuration 'c'.*one of: a, b"):
        chosen(folder(tmp_path, "a", "b"), {LABEL: "c"})
    with pytest.raises(SetupError, match="one of: none"):
        chosen(None, {LABEL: "c"})
