"""The real cluster that `make e2e` has made, and the table of what became of the examples."""

import os

import pytest

from tests.e2e.kind.table import Table

TABLE = Table()


@pytest.fixture(scope="session")
def table() -> Table:
    return TABLE


@pytest.fixture(scope="session")
def kubeconfig() -> str:
    found = os.environ.get("GPUYARD_E2E_KUBECONFIG")
    if found is None:
        pytest.skip("needs a real cluster: make e2e")
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TABLE.rows:
        terminalreporter.section("one scenario, three backends")
        for line in TABLE.lines():
            terminalreporter.write_line(line)
