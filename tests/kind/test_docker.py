"""The script that starts a Docker daemon where none answers, with a daemon that only notes how it was started."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "kind/docker.sh"
DAEMON = 'echo "$PATH" > "$NOTES/path"; cp "$2" "$NOTES/configuration"'
CLIENT = 'test -e "$NOTES/configuration"'


def _program(folder: Path, name: str, script: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    found = folder / name
    found.write_text(f"#!/bin/sh\n{script}\n")
    found.chmod(0o755)
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a Docker daemon")
def test_a_daemon_is_started_with_the_machines_own_containerd_shim_and_runc(tmp_path: Path) -> None:
    """Cold, it came up with Debian's containerd, and found our newer shim once that was built: no container ran."""
    machine, ours = tmp_path / "machine", tmp_path / "cache/gpuyard/kind/bin"
    _program(machine, "dockerd", DAEMON)
    _program(machine, "docker", CLIENT)
    for name in ("containerd", "containerd-shim-runc-v2", "runc"):
        _program(machine, name)
        _program(ours, name)
    # As e2e.sh calls it, whose own programs stand in front already.
    path = f"{ours}:{machine}:{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": path,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "NOTES": str(tmp_path),
    }
    subprocess.run([SCRIPT, "start"], env=environment, check=True, timeout=60)
    assert str(ours) not in (tmp_path / "path").read_text().strip().split(":")
    host = ours.parent / "runc-host"  # there where this machine may not raise limits
    assert not host.exists() or str(machine / "runc") in host.read_text()
