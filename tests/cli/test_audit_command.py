"""`gpuyard audit`: what it prints, and how it exits."""

import argparse
import json
from collections.abc import Callable
from contextlib import asynccontextmanager

import pytest

from gpuyard_cli import extender_access
from gpuyard_cli.main import main
from gpuyard_cli.scenarios import auditing
from gpuyard_cli.scenarios.auditing import Audited
from tests.gpuyard.audited import GPUS, NOTHING, Books, Tenant, holding

ONE = Tenant("one", holding(0))
WRONG = Audited(Books.kept(ONE).telling(ONE, plugin=NOTHING, kubelet=None).findings())
SILENT = Audited(WRONG.findings, ("device plugin of node-1: none runs there",))


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> Callable[[Audited], list[str | None]]:
    """Let the cluster's audit come to this; which cluster was asked."""

    def install(audited: Audited) -> list[str | None]:
        asked: list[str | None] = []

        @asynccontextmanager
        async def connected(arguments: argparse.Namespace):  # type: ignore[no-untyped-def]
            asked.extend([arguments.kubeconfig, arguments.on])
            yield None, None

        async def settled(*_: object) -> Audited:
            return audited

        monkeypatch.setattr(extender_access, "connected", connected)
        monkeypatch.setattr(auditing, "settled", settled)
        return asked

    return install


Install = Callable[[Audited], list[str | None]]


def test_accounts_that_agree_exit_0(outcome: Install, capsys: pytest.CaptureFixture[str]) -> None:
    asked = outcome(Audited())
    assert main(["audit", "--kubeconfig", "mine"]) == 0
    assert capsys.readouterr() == ("all accounts agree\n", "")
    assert asked == ["mine", "kubeconfig"]


def test_findings_exit_1_and_each_account_has_its_line(
    outcome: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = outcome(WRONG)
    assert main(["audit", "--on", "kind"]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.split()[:3] == ["AccountsDisagree", "node-1", "default/one"]
    assert first.endswith(": the accounts name different devices")
    assert [line.split() for line in rest] == [
        ["status", GPUS[0]],
        ["kubelet", GPUS[0]],
        ["plugin", "-"],
        ["1", "finding"],
    ]
    assert asked == [None, "kind"]


def test_who_could_not_be_asked_exits_2_and_stands_on_stderr(
    outcome: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome(SILENT)
    assert main(["audit"]) == 2
    out, err = capsys.readouterr()
    assert err == "gpuyard: device plugin of node-1: none runs there\n"
    assert out.startswith("AccountsDisagree")


def test_programs_get_one_object(outcome: Install, capsys: pytest.CaptureFixture[str]) -> None:
    outcome(SILENT)
    assert main(["audit", "-o", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["silent"] == list(SILENT.silent)
    assert found["findings"] == [finding.to_json() for finding in SILENT.findings]
