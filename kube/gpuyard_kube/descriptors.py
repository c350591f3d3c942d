"""How many connections a process may have open.

Stands for what Go's runtime does at the start of each program. Law: asking for more never fails.
"""

import contextlib
import resource


def allow_all() -> None:
    """As many as the system lets us have. Shells set 1,024, for programs that use select()."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # macOS says "unlimited" and means less
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
