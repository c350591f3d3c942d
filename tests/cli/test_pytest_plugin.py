"""Others test with it: the sample project does what its README says, and what cannot be is said in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "examples/test-your-operator"
LAZY = "def test_it(gpu_cluster): pass"


def session(folder: Path, base: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={base}"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180)


def test_the_sample_project_passes_and_leaves_no_cluster_behind(tmp_path: Path) -> None:
    done = session(SAMPLE, tmp_path / "base")
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    # `gpuyard up` removes its kubeconfig when it ends as it should.
    assert list((tmp_path / "base").rglob("log"))
    assert list((tmp_path / "base").rglob("kubeconfig")) == []


@pytest.mark.parametrize(
    ("ini", "said"),
    [
        ("gpuyard_presets = dgx-9000", "gpuyard: --preset: 'dgx-9000' is unknown; use "),
        (
            "gpuyard_presets = t4x8\ngpuyard_yard = yard.yaml",
            "gpuyard_presets, gpuyard_yard: one says it all",
        ),
        ("gpuyard_yard = a.yaml b.yaml", "gpuyard_yard: several files; name one"),
        ("gpuyard_yard = a.yaml", "a.yaml: No such file or directory; give a file"),
    ],
)
def test_nodes_that_cannot_be_had_are_named(tmp_path: Path, ini: str, said: str) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
    (tmp_path / "test_it.py").write_text(LAZY)
    done = session(tmp_path, tmp_path / "base")
    assert (done.returncode, said in done.stdout) == (1, True), done.stdout
