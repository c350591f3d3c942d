"""The processes that are measured, and what Linux says about them."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO


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


_URL = re.compile(r"(?:running on|asked at) (http://\S+)")


@contextlib.contextmanager
def _started(*command: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A process and its log, which is written as always."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield process, log
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def api_server(nodes: int, bound: int, port: int) -> Iterator[str]:
    """The URL of an API server with a made-up cluster."""
    with _started("-m", "benchmarks.api_server", str(nodes), str(bound), str(port)) as (process, log):
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"the API server did not start:\n{_content(log)}")
        yield f"http://127.0.0.1:{int(said)}"


@contextlib.contextmanager
def served(module: str, *arguments: str) -> Iterator[tuple[str, int]]:
    """The URL and the process id of a server of this folder, which prints its port."""
    with _started("-m", f"benchmarks.{module}", *arguments) as (process, log):
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"the server did not start:\n{_content(log)}")
        yield f"http://127.0.0.1:{int(said)}", process.pid


@contextlib.contextmanager
def extender(server: Sequence[str], policy: str) -> Iterator[tuple[str, int]]:
    """GPUYard's extender as its command runs it: the URL and the process id. `server`: its arguments for that."""
    with _command("gpuyard_extender", *server, "--port", "0", "--policy", policy) as found:
        yield found


@contextlib.contextmanager
def operator(api: str) -> Iterator[tuple[str, int]]:
    """The gang operator as its command runs it, without an extender: the URL and the process id."""
    with _command(
        "gpuyard_operator", "--api", api, "--extender", "http://127.0.0.1:9", "--port", "0"
    ) as found:
        yield found


@contextlib.contextmanager
def _command(package: str, *arguments: str) -> Iterator[tuple[str, int]]:
    with _started("-c", f"from {package}.main import main; main()", *arguments) as (process, log):
        # Its log names the port. To choose one and try until it listens can end in a connection with itself.
        while (found := _URL.search(_content(log))) is None:
            if process.poll() is not None:
                raise RuntimeError(f"{package} did not start:\n{_content(log)}")
            time.sleep(0.01)
        yield found[1], process.pid


def _content(log: IO[str]) -> str:
    """What was written so far; read by position, because the writer shares the file's own."""
    return os.pread(log.fileno(), 1 << 16, 0).decode(errors="replace")
