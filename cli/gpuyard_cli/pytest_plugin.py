"""For the tests of others: a GPU cluster that an operator under test can be pointed at.

pytest loads it by itself where GPUYard is installed. The cluster is `gpuyard up` in a process of its own, so that no
event loop, signal handler or warning of ours meets the tests. Its nodes come from the ini file:

    [tool.pytest.ini_options]
    gpuyard_presets = ["dgx-h100x2"]     # as gpuyard up --preset
    gpuyard_yard = "tests/yard.yaml"     # or the nodes one by one, as gpuyard up --nodes
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_ENDING_SECONDS = 30


@dataclass(frozen=True, slots=True)
class GPUCluster:
    """A cluster that runs. `kubeconfig` is what clients need to reach it; nothing is put into the environment."""

    kubeconfig: Path


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("gpuyard_presets", "nodes of the fixture gpu_cluster, by preset", type="args")
    parser.addini("gpuyard_yard", "nodes of the fixture gpu_cluster, a yard.yaml", type="paths")


@pytest.fixture(scope="session")
def gpu_cluster(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GPUCluster]:
    """An embedded cluster with GPUs, from the first test that asks for it until the session ends."""
    folder = tmp_path_factory.mktemp("gpuyard")
    kubeconfig, log = folder / "kubeconfig", folder / "log"
    command = [sys.executable, "-m", "gpuyard_cli", "up", f"--kubeconfig={kubeconfig}", *_nodes(pytestconfig)]
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            _await_start(process, log)
            yield GPUCluster(kubeconfig)
        finally:
            _end(process)


def _nodes(config: pytest.Config) -> list[str]:
    presets, yards = config.getini("gpuyard_presets"), config.getini("gpuyard_yard")
    if presets and yards:
        raise pytest.UsageError("gpuyard_presets, gpuyard_yard: one says it all; leave out the other")
    if len(yards) > 1:
        raise pytest.UsageError("gpuyard_yard: several files; name one")
    return [f"--nodes={path}" for path in yards] + [f"--preset={preset}" for preset in presets]


def _await_start(process: "subprocess.Popen[str]", log: Path) -> None:
    """It prints its first line once everything runs; where it cannot start it says why, and ends."""
    assert process.stdout is not None
    if not process.stdout.readline():
        process.wait()
        pytest.fail(log.read_text().strip(), pytrace=False)


def _end(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
