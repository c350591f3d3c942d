"""A file made anew under the old name is another file."""

from pathlib import Path

from gpuyard_device_plugin.files import identity


def test_a_new_file_of_the_same_name_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.sock"
    assert identity(path) is None
    path.touch()
    before = identity(path)
    assert before == identity(path)
    (tmp_path / "new").touch()
    (tmp_path / "new").rename(path)
    assert identity(path) not in (None, before)
