import pytest

from gpuyard_cli import bench_command
from gpuyard_cli.main import main
from tests.cli.saying import said, shown


def test_benchmarks_are_listed_and_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.split()[0] for line in shown(capsys, "bench").splitlines()]
    assert listed == list(bench_command.benchmarks())
    assert {"extender", "planning", "replay", "yard"} <= set(listed)
    assert said(capsys, "bench", "moon").startswith("gpuyard: NAME: 'moon' is no benchmark; use ")


def test_what_follows_the_name_is_the_benchmark_s(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "planning", "--frob"]) == 2
    assert capfd.readouterr().err.startswith("usage: planning.py ")
