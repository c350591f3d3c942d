"""The `gpuyard` command: what it prints where, and its exit code."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gpuyard_cli import run_command
from gpuyard_cli.backends import running
from gpuyard_cli.main import main
from gpuyard_cli.run_command import EXAMPLES
from tests.cli.written import pod, scenario, step, write_example

COMMAND = [sys.executable, "-c", "import sys; from gpuyard_cli.main import main; sys.exit(main())"]


def gpuyard(*arguments: object, **more: Any) -> "subprocess.CompletedProcess[str]":
    """The command as a process of its own; its stdin is empty and its stdout a pipe."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **more
    )


def test_an_example_that_goes_as_expected_gives_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(write_example(tmp_path / "07-mine")), "--on", "steps"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == "07-mine on steps: One pod"
    assert printed.out.splitlines()[-1] == "  PASS 07-mine"
    assert printed.err == ""


def test_a_wrong_expectation_gives_1_and_prints_the_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = step(expect={"pods": {"train": {"phase": "Running", "devices": {"main": ["1"]}}}})
    folder = write_example(tmp_path / "07-mine", scenario=scenario(wrong))
    assert main(["run", str(folder), "--on", "steps"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "  FAIL it runs: pod train: devices of main is 0, expected 1"


def test_a_misspelt_field_of_an_object_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = pod()
    wrong["spec"]["containers"][0]["resuorces"] = {}
    assert main(["run", str(write_example(tmp_path, objects={"pod.yaml": wrong})), "--on", "steps"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("  FAIL it runs: Pod train: ")
    assert 'unknown field "spec.containers[0].resuorces"' in last


@pytest.mark.parametrize("backend", ["steps", "embedded"])
def test_bad_input_gives_2_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str
) -> None:
    """Which input is bad, `test_examples` tells."""
    folder = write_example(tmp_path, scenario="steps: [")
    assert main(["run", str(folder), "--on", backend]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"gpuyard: {folder}/scenario.yaml: line 2: ")
    assert printed.err.count("\n") == 1


def test_a_demo_checks_all_examples_before_it_runs_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_example(tmp_path / "a")
    write_example(tmp_path / "b", yard={"nodez": []})
    assert main(["demo", str(tmp_path), "--on", "steps"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"gpuyard: {tmp_path}/b/yard.yaml: yard.nodez: unknown key; use nodes\n"


def test_a_demo_runs_every_example_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_example(tmp_path / "a")
    write_example(tmp_path / "b", scenario=scenario(step(expect={"pods": {"train": {"phase": "Failed"}}})))
    assert main(["demo", str(tmp_path), "--on", "steps"]) == 1
    assert ": b" in capsys.readouterr().out.splitlines()[-1]


def test_a_demo_by_itself_runs_the_first_example_of_each_topic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("01-first", "01b-more", "02-second", "sample"):
        write_example(tmp_path / name)
    monkeypatch.setattr(run_command, "EXAMPLES", tmp_path)
    assert main(["demo", "--on", "steps", "-o", "json"]) == 0
    ran = json.loads(capsys.readouterr().out)["examples"]
    assert [outcome["example"] for outcome in ran] == ["01-first", "02-second"]


def test_a_demo_of_a_folder_without_examples_gives_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err
        == f"gpuyard: {tmp_path}: no examples there; name a folder with */scenario.yaml\n"
    )


def test_the_embedded_cluster_cannot_be_stepped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / "01-one-gpu"), "--step"]) == 2
    assert capsys.readouterr().err == "gpuyard: --step: --on embedded cannot be stepped; add --on steps\n"


def test_ctrl_c_gives_130_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_arguments: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run", interrupted)
    assert main(["run", str(EXAMPLES / "01-one-gpu"), "--on", "steps"]) == 130
    assert capsys.readouterr().err == ""


def test_on_a_pipe_step_prints_all_states_and_waits_for_nobody(tmp_path: Path) -> None:
    done = gpuyard("run", write_example(tmp_path), "--on", "steps", "--step")
    assert (done.returncode, done.stderr) == (0, "")
    assert "      pod train: Running on node-1, main has 0" in done.stdout.splitlines()


def test_a_full_disk_behind_the_output_is_one_line() -> None:
    with open("/dev/full", "wb") as out:
        done = subprocess.run(
            [*COMMAND, "version"], stdout=out, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith("gpuyard: output: no space is left")


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, "run", str(write_example(tmp_path)), "--on", "steps"]
    with os.fdopen(writing, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("backend", ["steps", "embedded"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_as_a_process_a_signal_ends_it_without_a_traceback_and_leaves_nothing(
    tmp_path: Path, backend: str, number: signal.Signals, code: int
) -> None:
    never = step(expect={"pods": {"train": {"phase": "Failed"}}})
    folder = write_example(tmp_path, scenario=scenario(never))
    stepped = ["--step"] if backend == "steps" else []
    command = [*COMMAND, "run", str(folder), "--on", backend, *stepped]
    scratch = tempfile.mkdtemp(prefix="t")  # short: unix sockets lie below
    try:
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": scratch},
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if "it runs" in line:
                    process.send_signal(number)
                    break
            _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (code, "")
        assert os.listdir(scratch) == []
    finally:
        shutil.rmtree(scratch)


def test_ctrl_c_in_the_midst_of_a_demo_takes_all_its_clusters_down_without_a_word() -> None:
    demo = subprocess.Popen([*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert demo.stdout is not None
    while not demo.stdout.readline().startswith("  PASS"):  # others run beside the next, and some still wait
        pass
    demo.send_signal(signal.SIGINT)
    _, complaints = demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert "Traceback" not in complaints
