"""A component may have as many connections as the system allows, whatever its shell has set."""

import resource
import subprocess
import sys
from typing import Final

SOFT: Final = 64
_LOOK: Final = """
import resource
from gpuyard_kube import descriptors
descriptors.allow_all()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def _set_low() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, most))


def test_a_low_limit_is_raised_to_what_the_system_allows() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    done = subprocess.run(
        [sys.executable, "-c", _LOOK], preexec_fn=_set_low, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(most), str(most)]
