"""The entry point of `gpuyard-operator`: a signal ends it cleanly, also while its libraries are imported."""

import sys

from gpuyard_kube.endings import end_at_once


def main() -> int | None:
    """Run the command; its exit code."""
    end_at_once()
    from gpuyard_operator.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
