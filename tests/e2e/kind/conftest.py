"""The real cluster that `make e2e` has made, and the table of what became of the examples."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from gpuyard_cli.backends import kind as kind_backend
from gpuyard_cli.backends.live_accounts import LiveAccounts
from tests.e2e.agreement import agree
from tests.e2e.kind.table import Table
from tests.e2e.operators.conftest import operators

__all__ = ["operators"]

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


@pytest.fixture(autouse=True)
def audited(kubeconfig: str) -> Iterator[None]:
    """After each case nothing is held for pods that have gone with it, and nothing disagrees about the others."""
    yield

    async def audit() -> None:
        async with kind_backend.connected(kubeconfig) as api:
            await agree(LiveAccounts(api))

    asyncio.run(audit())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TABLE.rows:
        terminalreporter.section("one scenario, three backends")
        for line in TABLE.lines():
            terminalreporter.write_line(line)
