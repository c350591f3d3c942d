"""The command line as a whole: its help, what it says of what is wrong, the exit codes."""

import json
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from gpuyard_cli import commands
from gpuyard_cli.main import main
from tests.cli.saying import ended, said, shown, subcommands
from tests.cli.written import write_example

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
        (None, "kubeconfig: {file}: there is no such file; name one with --kubeconfig"),
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
    assert text.endswith(
        ("; name one with --kubeconfig", "; start it, or name another one with --kubeconfig")
    )


@pytest.mark.parametrize("line", ["top", "run examples/01-one-gpu --on kubeconfig"])
@pytest.mark.parametrize("name", [None, "absent"])
def test_without_any_kubeconfig_the_usual_place_is_named_and_a_remedy_that_the_command_has(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str | None,
    line: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    if name is not None:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / name))
    place = "~/.kube/config" if name is None else tmp_path / name
    assert ended(line.split()) == 2
    assert capsys.readouterr().err == (
        f"gpuyard: kubeconfig: {place}: there is no such file, and this is no pod of a cluster;"
        " name one in KUBECONFIG\n"
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
