"""The command line as a whole: its help, what it says of what is wrong, the exit codes, shells and kubectl."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuyard_cli import bench_command, commands
from gpuyard_cli.completion_command import SHELLS
from gpuyard_cli.main import main
from tests.cli.written import write_example
from tests.e2e.kubectl import playing

ROOT = Path(__file__).parents[2]
NOBODY = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}
"""A kubeconfig whose cluster does not run."""
ASKING: list[list[str]] = [
    ["top"],
    ["audit"],
    ["explain", "pod", "train"],
    ["explain", "podgroup", "train"],
    ["fault", "node", "node-1"],
    ["uninstall", "--dry-run"],
]


def ended(arguments: Sequence[str]) -> int:
    """The exit code; argparse ends by an exception of its own."""
    try:
        return main(arguments)
    except SystemExit as early:
        return int(early.code or 0)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command which cannot do its work prints, with exit code 2."""
    code, printed = ended(arguments), capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1), printed
    return printed.err.rstrip("\n")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints that ends well."""
    code, printed = ended(arguments), capsys.readouterr()
    assert (code, printed.err) == (0, "")
    return printed.out


def subcommands() -> list[str]:
    return [name for _, shelf in commands.parser().groups for name, _ in shelf.uses]  # type: ignore[attr-defined]


# --- help


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys) == shown(capsys, "--help")


def test_help_has_every_command_with_its_use_examples_and_all_exit_codes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = shown(capsys, "--help")
    words = [line.split() for line in page.splitlines() if line.startswith("  ")]
    firsts = {line[0] for line in words if len(line) > 1}
    assert {*subcommands(), *map(str, commands.EXIT_CODES)} <= firsts
    assert "\x1b" not in page
    assert max(map(len, page.splitlines())) <= 118


def test_examples_of_the_help_are_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    typed = [line.split() for line, _ in commands._EXAMPLES if line.startswith("gpuyard ")]
    assert len(typed) > 3
    for _, *words in typed:
        commands.parser().parse_args(words)


@pytest.mark.parametrize("name", subcommands())
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], name: str) -> None:
    page = shown(capsys, name, "--help")
    assert page.startswith(f"usage: gpuyard {name} ")
    assert page.count("\n") > 5


# --- what cannot be


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("explian", "gpuyard: argument COMMAND: invalid choice: 'explian'"),
        ("explain pod", "gpuyard explain pod: the following arguments are required: NAME"),
        ("explain job x", "gpuyard explain: argument KIND: invalid choice: 'job'"),
        ("top --oncee", "gpuyard: unrecognized arguments: --oncee"),
        ("audit -o xml", "gpuyard audit: argument -o/--output: invalid choice: 'xml'"),
        (
            "audit --on kind --kubeconfig x",
            "gpuyard audit: argument --kubeconfig: not allowed with argument --on",
        ),
        ("run x --on moon", "gpuyard run: argument --on: invalid choice: 'moon'"),
        ("fault gpu n one --xid 79", "gpuyard fault gpu: argument INDEX: 'one' is not a whole number"),
        (
            "fault node ../pods --xid 79",
            "gpuyard fault node: argument NODE: '../pods' is no name of an object",
        ),
        ("explain pod a?b", "gpuyard explain pod: argument NAME: 'a?b' is no name of an object"),
        ("explain queue A", "gpuyard explain queue: argument NAME: 'A' is no name of an object"),
        ("explain pod a -n ../b", "gpuyard explain pod: argument -n/--namespace: '../b' is no name"),
        ("up --port http", "gpuyard up: argument --port: 'http' is not a port"),
        ("capture x.csv --for ever", "gpuyard capture: argument --for: 'ever' is no duration"),
        ("sweep x.csv --results y --seeds 9-1", "gpuyard sweep: argument --seeds: '9-1' are no seeds"),
    ],
)
def test_a_wrong_flag_is_named_and_where_to_read_on(
    capsys: pytest.CaptureFixture[str], line: str, problem: str
) -> None:
    text = said(capsys, *line.split())
    assert text.startswith(problem)
    assert text.endswith("; see " + problem.split(":")[0] + " --help")


@pytest.mark.parametrize("arguments", ASKING)
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "kubeconfig: {file}: there is no such file; name one with --kubeconfig or KUBECONFIG"),
        ("a: [", "kubeconfig: while parsing a flow node"),
        ("clusters: 5", "kubeconfig: {file}: not a kubeconfig, or not a whole one; name one"),
        ("[]", "kubeconfig: {file}: not a kubeconfig, or not a whole one; name one"),
        ("\x00", "kubeconfig: "),
        (
            yaml.safe_dump(NOBODY | {"current-context": "y"}),
            "kubeconfig: Invalid kube-config file. Expected object with name y",
        ),
        (yaml.safe_dump(NOBODY), "cluster: http://127.0.0.1:1 cannot be reached: "),
    ],
)
def test_a_kubeconfig_that_is_of_no_use_is_named_with_a_remedy(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
    content: str | None,
    problem: str,
) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    text = said(capsys, *arguments, "--kubeconfig", str(file))
    assert text.startswith("gpuyard: " + problem.format(file=file))
    assert "name one with --kubeconfig" in text or text.endswith(
        "; start it, or name another one with --kubeconfig or KUBECONFIG"
    )


@pytest.mark.parametrize("name", [None, "absent"])
def test_without_any_kubeconfig_the_usual_place_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    if name is not None:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / name))
    place = "~/.kube/config" if name is None else tmp_path / name
    assert said(capsys, "top") == (
        f"gpuyard: kubeconfig: {place}: there is no such file, and this is no pod of a cluster;"
        " name one with --kubeconfig or KUBECONFIG"
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: [", "line 2: did not find expected node content; write valid YAML"),
        (b"\xff\xfe\xfa", "not valid YAML; write valid YAML"),
        (None, "No such file or directory; give a file that can be read"),
    ],
)
@pytest.mark.parametrize("line", ["simulate -f", "up --nodes", "up --import"])
def test_a_file_that_cannot_be_read_is_named_with_a_remedy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "file.yaml"
    if content is not None:
        file.write_bytes(content)
    assert said(capsys, *line.split(), str(file)) == f"gpuyard: {file}: {problem}"


# --- answers for programs


def test_what_came_of_a_scenario_is_on_stdout_and_what_happened_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_example(tmp_path / "07-mine")
    assert main(["run", str(folder), "--on", "steps", "-o", "json"]) == 0
    one, told = capsys.readouterr()
    assert json.loads(one) == {
        "example": "07-mine",
        "backend": "steps",
        "passed": True,
        "steps": ["it runs"],
        "faults": [],
    }
    assert told.splitlines()[-1] == "  PASS 07-mine"
    assert main(["demo", str(tmp_path), "--on", "steps", "-o", "yaml"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == {"examples": [json.loads(one)]}


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = json.loads(shown(capsys, "version", "-o", "json"))
    assert found["gpuyard"] == project["version"]
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    lines = shown(capsys, "version").splitlines()
    assert [line.split(None, 1) for line in lines] == [list(item) for item in found.items()]


# --- benchmarks


def test_benchmarks_are_listed_and_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.split()[0] for line in shown(capsys, "bench").splitlines()]
    assert listed == list(bench_command.benchmarks())
    assert {"extender", "planning", "replay", "yard"} <= set(listed)
    assert said(capsys, "bench", "moon").startswith("gpuyard: NAME: 'moon' is no benchmark; use ")


def test_what_follows_the_name_is_the_benchmark_s(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "planning", "--frob"]) == 2
    assert capfd.readouterr().err.startswith("usage: planning.py ")


# --- shells and kubectl


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
