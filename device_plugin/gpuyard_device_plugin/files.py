"""Which file is it? Sockets are deleted and made anew under one name; numbers of inodes are used again at once."""

import os
from pathlib import Path

FileIdentity = tuple[int, int]
"""Inode and time of change in nanoseconds: on a real node a new kubelet.sock had the inode of the old one."""


def identity(path: Path) -> FileIdentity | None:
    """None when there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns
