from pathlib import Path

import pytest

from gpuyard_cluster.kubelet.checkpoint import Disk
from gpuyard_cluster.kubelet.disks import FolderDisk, MemoryDisk


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a_file_is_read_as_it_was_last_written(kind: str, tmp_path: Path) -> None:
    disk: Disk = MemoryDisk() if kind == "memory" else FolderDisk(tmp_path / "node-1")
    assert disk.read("x") is None
    for content in (b"old", b"new"):
        disk.write("x", content)
    assert disk.read("x") == b"new"


def test_nothing_but_the_files_is_left_in_the_folder_and_another_disk_finds_them(tmp_path: Path) -> None:
    FolderDisk(tmp_path).write("x", b"1")
    assert [found.name for found in tmp_path.iterdir()] == ["x"]
    assert FolderDisk(tmp_path).read("x") == b"1"
