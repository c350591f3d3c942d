"""What most tests of the kubelet begin with."""

import pytest

from tests.cluster.kubelet.world import World


@pytest.fixture
def world() -> World:
    return World()
