"""Where the operators of others are that kind/operators.sh has built, and the cluster that they are run against."""

import os
from pathlib import Path

import pytest

from tests.e2e.clients.conftest import kubeconfig

__all__ = ["kubeconfig"]


@pytest.fixture(scope="session")
def operators() -> Path:
    found = os.environ.get("GPUYARD_OPERATORS")
    if found is None:
        pytest.skip("needs the operators of others: make operators")
    return Path(found)
