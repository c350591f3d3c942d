"""What shells and kubectl know of the command."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gpuyard_cli.completion_command import SHELLS
from tests.cli.saying import shown, subcommands
from tests.e2e.kubectl import playing

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_learns_all_commands(capsys: pytest.CaptureFixture[str], shell: str, tmp_path: Path) -> None:
    script = shown(capsys, "completion", shell)
    assert all(name in script for name in subcommands())
    if shutil.which(shell):
        file = tmp_path / "script"
        file.write_text(script)
        subprocess.run([shell, "-n", file], check=True)


def test_bash_completes_commands_options_choices_and_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text(
        shown(capsys, "completion", "bash")
        + """
complete_line() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMPREPLY=()
  $(complete -p gpuyard | sed 's/.*-F \\([^ ]*\\).*/\\1/') gpuyard
  printf '%s\\n' "${COMPREPLY[@]}"
}
"""
    )
    (tmp_path / "mine.yaml").touch()

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in ("gpuyard", *words))
        done = subprocess.run(
            ["bash", "-c", f". {script}; complete_line {line}"], cwd=tmp_path, capture_output=True, text=True
        )
        return {word.strip() for word in done.stdout.splitlines()}

    assert completed("expl") == {"explain"}
    assert completed("explain", "pod") == {"pod", "podgroup"}
    assert "--add-nodes" in completed("simulate", "--")
    assert completed("audit", "-o", "js") == {"json"}
    assert "mine.yaml" in completed("simulate", "-f", "mi")


def test_kubectl_finds_it_as_a_plugin(tmp_path: Path) -> None:
    kubectl, why = playing.find()
    if not kubectl:
        pytest.skip(why)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, function = scripts["kubectl-gpuyard"].split(":")
    program = tmp_path / "kubectl-gpuyard"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
    )
    program.chmod(0o755)

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        paths: dict[str, Any] = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        command = [kubectl, "gpuyard", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **paths})

    assert json.loads(run("version", "-o", "json").stdout).keys() >= {"gpuyard", "kubernetes"}
    wrong = run("top", "--kubeconfg", "x")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("kubectl gpuyard: unrecognized arguments: --kubeconfg")
