"""The processes that are measured, and what Linux says about them."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """What Linux says about a process."""

    pid: int

    def cpu_seconds(self) -> float:
        """Of its main thread."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1e9

    def megabytes(self) -> tuple[int, int]:
        """Resident now, and at its highest."""
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines()
        )
        return int(status["VmRSS"].split()[0]) // 1024, int(status["VmHWM"].split()[0]) // 1024


@contextlib.contextmanager
def _started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """Its log, which the extender writes as it always does, is thrown away."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def api_server(nodes: int, bound: int, port: int) -> Iterator[str]:
    """The URL of an API server with a made-up cluster."""
    with _started("-m", "benchmarks.api_server", str(nodes), str(bound), str(port)) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"


@contextlib.contextmanager
def extender(api: str, policy: str) -> Iterator[tuple[str, int]]:
    """GPUYard's extender as its command runs it: the URL and the process id."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    arguments = ("--api", api, "--port", str(port), "--policy", policy)
    with _started("-c", "from gpuyard_extender.main import main; main()", *arguments) as process:
        url = f"http://127.0.0.1:{port}"
        while not _listens(port):
            time.sleep(0.01)
        yield url, process.pid


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
