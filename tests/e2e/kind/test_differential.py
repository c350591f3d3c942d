"""The embedded scheduler puts pods where kube-scheduler does, and our extender gives them the same devices.

GPUYARD_WORKLOADS says how many workloads are tried, in place of 30.
"""

import asyncio
import os

from tests.e2e.differential.grounds import embedded, real
from tests.e2e.differential.walking import both
from tests.e2e.differential.workloads import workload

NUMBERS = range(int(os.environ.get("GPUYARD_WORKLOADS", "30")))


def test_both_schedulers_choose_the_same_nodes_and_devices(kubeconfig: str) -> None:
    async def story() -> None:
        async with embedded() as ours, real(kubeconfig) as theirs:
            for number in NUMBERS:
                found = await both(ours, theirs, workload(number))
                assert found[0] == found[1], f"workload {number}"

    asyncio.run(story())
