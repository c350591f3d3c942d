"""How the embedded operator is imported."""

import subprocess
import sys

WHAT = """
import sys
from gpuyard_cluster.wiring.operator import _imported

_imported()
assert "kopf" in sys.modules
assert "kubernetes" not in sys.modules
import kubernetes.client

kubernetes.client.V1Pod
"""


def test_kopf_comes_without_a_client_that_nobody_needs_and_hides_it_from_nobody() -> None:
    done = subprocess.run([sys.executable, "-c", WHAT], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
