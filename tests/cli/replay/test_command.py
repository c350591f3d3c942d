"""`gpuyard replay` and `gpuyard sweep` as a user meets them."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpuyard_cli.main import main

TRACES = Path(__file__).parents[3] / "replay" / "traces"
SMALL, JOBS, MIG = (str(TRACES / name / "pods.csv") for name in ("small", "jobs", "mig"))


def test_replay_prints_a_table_and_writes_points_and_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--csv", str(tmp_path / "c.csv"), "--plot", str(tmp_path / "c.svg")]
    assert main(["replay", SMALL, "--policy", "fgd", "--policy", "pack", "--until", "110%", *files]) == 0
    shown, told = capsys.readouterr()
    assert [line.split()[0] for line in shown.splitlines()] == ["policy", "fgd", "pack"]
    assert [line.split()[0] for line in told.splitlines()] == ["wrote", "wrote"]
    assert (tmp_path / "c.csv").read_text().startswith("policy,asked,allocated")
    assert (tmp_path / "c.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize("more", [["--until", "50%"], ["--timed", "--discipline", "strict"]])
def test_programs_get_an_object_for_each_run(capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    assert main(["replay", JOBS, "--policy", "pack", "-o", "json", *more]) == 0
    [found] = json.loads(capsys.readouterr().out)["replays"]
    assert found["policy"] == "pack"
    assert found.keys() >= ({"inUse", "withoutAPlace"} if "--until" in more else {"discipline", "wait_p50"})


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere.csv"], "nowhere.csv: cannot be read"),
        ([SMALL, "--policy", "fdg"], "--policy: 'fdg' is unknown; use bestfit"),
        ([SMALL, "--nodes", SMALL], "no column sn"),
        ([SMALL, "--order", SMALL], "is no line of an order; write N,NODE,RANK or P,POD"),
        (
            [SMALL, "--add-nodes", "2xt5"],
            "--add-nodes t5: neither a preset nor a node of the trace; use one of",
        ),
        ([SMALL, "--quota", "x=1"], "--quota: nothing is timed; add --timed"),
        ([SMALL, "--timed"], "no creation_time says when its pods came; give --load"),
        ([JOBS, "--timed", "--order", SMALL], "--order: an order has no times"),
        ([JOBS, "--timed", "--discipline", "fair"], "'fair' is unknown; use best-effort, strict, pod-by-pod"),
        (
            [JOBS, "--timed", "--quota", "x=1"],
            "no job is of a queue 'x'; use one of 'production', 'research'",
        ),
        ([MIG, "--timed", "--policy", "fgd"], "'fgd' is unknown; use pack, holes, random, or all"),
        ([SMALL, "--plot", "no/such/folder.svg"], "No such file or directory; name a file"),
    ],
)
def test_what_cannot_be_replayed_is_one_line_with_a_remedy(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", *arguments]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", SMALL, "--until", "all"],
        ["replay", JOBS, "--timed", "--durations", "10m,soon"],
        ["replay", JOBS, "--timed", "--quota", "research"],
        ["sweep", SMALL, "--results", "x", "--seeds", "9-1"],
        ["sweep", SMALL, "--results", "x", "--jobs", "-3"],
    ],
)
def test_numbers_that_are_none_are_refused_with_an_example(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "write for example" in capsys.readouterr().err


def test_disciplines_are_compared_over_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--csv", str(tmp_path / "t.csv"), "--plot", str(tmp_path / "t.svg")]
    asked = ["--timed", "--policy", "pack", "--discipline", "all", "--quota", "research=30", *files]
    assert main(["replay", JOBS, *asked]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert shown[0][:4] == ["policy", "discipline", "wait", "p50"]
    assert [line[:2] for line in shown[1:4]] == [
        ["pack", f"{d}"] for d in ("best-effort", "strict", "pod-by-pod")
    ]
    assert (tmp_path / "t.csv").read_text().startswith("policy,discipline,second,running,held")
    assert (tmp_path / "t.svg").read_text().startswith("<svg ")


def test_a_load_and_durations_can_be_drawn_for_a_trace_without_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["--timed", "--load", "70%", "--durations", "10m,1h", "--until", "300"]
    assert main(["replay", SMALL, *asked]) == 0
    assert "best-effort" in capsys.readouterr().out


def test_what_more_nodes_would_have_done_stands_beside_what_was(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["replay", SMALL, "--policy", "pack", "--add-nodes", "4xdgx-h100"]) == 0
    without, more = capsys.readouterr().out.splitlines()[1:]
    assert without.startswith("pack  ")
    assert more.startswith("pack +4xdgx-h100")
    assert "1 x 8 GPU" in without
    assert "8 GPU" not in more


@pytest.mark.parametrize(
    ("trace", "results", "why"),
    [
        ("nowhere.csv", "r.csv", "nowhere.csv: cannot be read"),
        (SMALL, "/dev/full", "/dev/full: no file can be there; name one in a folder that is there"),
        (SMALL, "nowhere/r.csv", "nowhere/r.csv: no file can be there"),
        (SMALL, SMALL, "is no file of results"),
    ],
)
def test_what_cannot_be_swept_is_one_line_also_from_another_process(
    trace: str, results: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", trace, "--results", results, "--seeds", "1-1", "--jobs", "1"]) == 2
    assert why in capsys.readouterr().err


def test_a_sweep_writes_a_report_with_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--results", str(tmp_path / "r.csv"), "--report", str(tmp_path / "r.md"), "--jobs", "1"]
    asked = ["sweep", SMALL, "--policy", "fgd", "--policy", "spread", "--seeds", "1-2", *given]
    assert main(asked) == 0
    report = (tmp_path / "r.md").read_text()
    assert "| trace | fgd | spread |" in report
    assert "![pods](r-pods.svg)" in report
    assert (tmp_path / "r-pods.svg").exists()
    capsys.readouterr()
    assert main([*asked, "-o", "json"]) == 0
    answer, told = capsys.readouterr()
    assert "spread seed" not in told
    runs = json.loads(answer)["replays"]
    assert [(run["policy"], run["seed"]) for run in runs] == [
        (p, s) for p in ("fgd", "spread") for s in (1, 2)
    ]
    assert runs[0].keys() == {"trace", "policy", "seed", "inUse", "lostAt100"}
