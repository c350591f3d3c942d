"""Which file is it, and does anybody answer there? Sockets are made anew under one name; numbers of inodes are used
again at once."""

import os
import socket
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


def is_listening(path: Path) -> bool:
    """Whether somebody answers at a unix socket; a process that was killed leaves the file and no answer."""
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        try:
            client.connect(os.fspath(path))
        except BlockingIOError:  # it is there, and has much to do
            return True
        except OSError:
            return False
    return True
