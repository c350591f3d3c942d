"""What most tests of the API server begin with."""

import pytest

from tests.cluster.apiserver.calling import Caller


@pytest.fixture
def api() -> Caller:
    """A client of a new server."""
    return Caller()
