"""How often the embedded scheduler and a real one choose the same nodes and devices, over random workloads.

    KEEP=1 make e2e; make bench ONLY=differential

$GPUYARD_E2E_KUBECONFIG names another cluster, and $GPUYARD_WORKLOADS another number than 300. The first of these
workloads are the test tests/e2e/kind/test_differential.py; here are more of them, and no difference ends it.
"""

import asyncio
import os
import time
from pathlib import Path

from tests.e2e.differential.grounds import embedded, real
from tests.e2e.differential.walking import both
from tests.e2e.differential.workloads import workload

KEPT = Path("~/.cache/gpuyard/kind/gpuyard-e2e.kubeconfig").expanduser()
"""Where `kind/e2e.sh` puts it."""


async def compare(kubeconfig: str, count: int) -> None:
    """Print each workload about which they disagree, and one row."""
    placed, refused, unlike, started = 0, 0, 0, time.perf_counter()
    async with embedded() as ours, real(kubeconfig) as theirs:
        for number in range(count):
            mine, others = await both(ours, theirs, workload(number))
            refused += sum(": refused: " in outcome for outcome in others)
            placed += sum(": refused: " not in outcome for outcome in others)
            if mine != others:
                unlike += 1
                pairs = (
                    f"  {one} | {other}" for one, other in zip(mine, others, strict=True) if one != other
                )
                print(f"workload {number}, embedded | real:", *pairs, sep="\n", flush=True)
    print("| workloads | pods placed | refused | workloads that differ | seconds |\n|---|---|---|---|---|")
    print(f"| {count} | {placed} | {refused} | {unlike} | {time.perf_counter() - started:.0f} |")


def main() -> None:
    """All settings come from the environment, as those of the test do."""
    kubeconfig = os.environ.get("GPUYARD_E2E_KUBECONFIG") or str(KEPT)
    asyncio.run(compare(kubeconfig, int(os.environ.get("GPUYARD_WORKLOADS", "300"))))


if __name__ == "__main__":
    main()
