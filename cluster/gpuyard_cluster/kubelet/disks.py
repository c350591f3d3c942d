"""The disk of a node, in memory and in a folder.

Stands for /var/lib/kubelet. A disk outlives its kubelet: whoever starts one anew hands it the same disk.
"""

import os
from pathlib import Path


class MemoryDisk:
    """Files in a dictionary."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content


class FolderDisk:
    """Files in a folder, which is made when the first file is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Replace the file whole: a reader finds the old content or the new. OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / f".{name}.new"
        draft.write_bytes(content)
        os.replace(draft, self._folder / name)
