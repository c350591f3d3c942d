"""The kubectl session on a real cluster: what is recorded is still what a real cluster answers."""

from pathlib import Path

import pytest

from tests.e2e.kubectl import playing
from tests.e2e.kubectl.recording import differences
from tests.e2e.kubectl.session import SESSION


def test_a_real_cluster_answers_kubectl_as_recorded(kubeconfig: str, tmp_path: Path) -> None:
    kubectl, why = playing.find()
    if not kubectl:
        pytest.skip(why)
    found = differences(list(playing.play(kubectl, kubeconfig, SESSION, str(tmp_path))))
    assert not found, "\n\n".join(found)
