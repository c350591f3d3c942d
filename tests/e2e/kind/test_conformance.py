"""A real API server says what was recorded, to which the embedded one is held (tests/e2e/test_conformance.py).

GPUYARD_RECORD=1 makes what it says now the record.
"""

import asyncio
import os

import pytest

from gpuyard_kube.servers import server_of
from tests.e2e.conformance.conversation import CHECKS, JSON
from tests.e2e.conformance.recording import differing, recorded, records_of, write

Records = dict[str, list[JSON]]


async def _answers(kubeconfig: str) -> Records:
    return await records_of(await server_of(kubeconfig), at_once=4)


@pytest.fixture(autouse=True)
def audited() -> None:
    """Nothing to audit: the checks touch nothing of GPUYard's."""


@pytest.fixture(scope="module")
def answers(kubeconfig: str) -> Records:
    found = asyncio.run(_answers(kubeconfig))
    if os.environ.get("GPUYARD_RECORD"):
        for name, record in found.items():
            write(name, record)
    return found


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_the_real_server_still_says_so(name: str, answers: Records) -> None:
    real = recorded(name)
    assert [real[at] for at in differing(answers[name], real)] == []
