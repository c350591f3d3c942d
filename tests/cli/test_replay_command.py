"""`gpuyard replay` and `gpuyard sweep` as a user meets them."""

from pathlib import Path

import pytest

from gpuyard_cli.main import main

SMALL = str(Path(__file__).parents[2] / "replay" / "traces" / "small" / "pods.csv")


def test_replay_prints_a_table_and_writes_points_and_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--csv", str(tmp_path / "c.csv"), "--plot", str(tmp_path / "c.svg")]
    assert main(["replay", SMALL, "--policy", "fgd", "--policy", "pack", "--until", "110%", *files]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()] == ["policy", "fgd", "pack", "wrote", "wrote"]
    assert (tmp_path / "c.csv").read_text().startswith("policy,asked,allocated")
    assert (tmp_path / "c.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere.csv"], "nowhere.csv: cannot be read"),
        ([SMALL, "--policy", "fdg"], "no policy is called 'fdg'; there are bestfit"),
        ([SMALL, "--nodes", SMALL], "no column sn"),
        ([SMALL, "--order", SMALL], "is no line of an order; write N,NODE,RANK or P,POD"),
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
    [["replay", SMALL, "--until", "all"], ["sweep", SMALL, "--results", "x", "--seeds", "9-1"]],
)
def test_numbers_that_are_none_are_refused_with_an_example(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "write for example" in capsys.readouterr().err


def test_a_sweep_writes_a_report_with_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--results", str(tmp_path / "r.csv"), "--report", str(tmp_path / "r.md"), "--jobs", "1"]
    asked = ["sweep", SMALL, "--policy", "fgd", "--policy", "spread", "--seeds", "1-2", *given]
    assert main(asked) == 0
    report = (tmp_path / "r.md").read_text()
    assert "| trace | fgd | spread |" in report
    assert "![pods](r-pods.svg)" in report
    assert (tmp_path / "r-pods.svg").exists()
    capsys.readouterr()
    assert main(asked) == 0
    assert "spread seed" not in capsys.readouterr().err
