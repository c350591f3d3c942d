"""`python -m gpuyard_cli`: the `gpuyard` command of just this Python."""

import sys

from gpuyard_cli.main import main

if __name__ == "__main__":
    sys.exit(main())
