"""Parts of GPUYard that die while they are at work.

Only here: on steps every part dies after each of its writes (tests/e2e/test_deaths.py); a real cluster starts others
by itself, and meanwhile calls those that are gone. A device plugin that dies is a story.
"""

import asyncio

from gpuyard import vocabulary, yard
from gpuyard_cli.backends.kind_yard import KindYard
from gpuyard_cli.backends.live_accounts import LiveAccounts
from tests.e2e.agreement import agree
from tests.e2e.kind.cluster import KindCluster, play
from tests.e2e.stories.cluster import until

MANY = 60
LARGE = {
    "nodes": [
        {"name": f"large-{n}", "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": MANY // 3}}
        for n in (1, 2, 3)
    ]
}


def test_extenders_that_die_with_50_pods_in_flight_leave_nothing_double_and_nothing_behind(
    kubeconfig: str,
) -> None:
    async def story(cluster: KindCluster) -> None:
        large = KindYard(cluster.api, yard.parse(LARGE), LARGE)
        try:
            await large.lend()
            names = [f"one-{n}" for n in range(MANY)]
            await asyncio.gather(*map(cluster.submit, names[:10]))
            await asyncio.gather(cluster.hands.kill(vocabulary.EXTENDER), *map(cluster.submit, names[10:]))
            await cluster.running(names)
            await cluster.sound()
            await agree(LiveAccounts(cluster.api))
            await cluster.delete(*names)
            await cluster.gone(*names)  # what they hold goes with the large yard
        finally:
            await large.restore()

    play(kubeconfig, "extender-dies", story)


def test_an_operator_that_dies_while_it_lets_a_gang_go_is_followed_by_one_that_ends_it(
    kubeconfig: str,
) -> None:
    async def story(cluster: KindCluster) -> None:
        await cluster.gather("ring", 12)
        names = [f"ring-{n}" for n in range(12)]
        await asyncio.gather(*(cluster.submit(name, group="ring") for name in names))

        async def begun() -> bool:
            return any(not pod["spec"].get("schedulingGates") for pod in (await cluster.pods()).values())

        await until(begun, "the first gate has fallen")
        await cluster.hands.kill(vocabulary.OPERATOR)
        await cluster.running(names)
        await cluster.sound()

    play(kubeconfig, "operator-dies", story)
