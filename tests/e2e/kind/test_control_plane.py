"""An API server that dies and comes back. Only here: embedded's lives and dies with the whole cluster."""

import asyncio
from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_kube.http import HttpApi
from tests.e2e.kind.cluster import KindCluster, play
from tests.e2e.stories.cluster import until
from tests.e2e.stories.nodes import life

PARTS: Final = (vocabulary.EXTENDER, vocabulary.OPERATOR, vocabulary.DEVICE_PLUGIN)
LEASES: Final = {
    "kube-scheduler": "kube-system",
    vocabulary.EXTENDER: vocabulary.NAMESPACE,
    vocabulary.OPERATOR: vocabulary.NAMESPACE,
}


def test_all_go_on_when_the_api_server_has_died_and_is_back(kubeconfig: str) -> None:
    async def story(cluster: KindCluster) -> None:
        early, late = [f"early-{n}" for n in range(3)], [f"late-{n}" for n in range(9)]
        ring = [f"ring-{n}" for n in range(12)]
        await cluster.gather("ring", len(ring))
        await asyncio.gather(*map(cluster.submit, early))
        before = await cluster.running(early)
        renewed, long_ago = await renewals(cluster.api), await ends(cluster)
        await cluster.hands.kill_api_server()
        await until(lambda: answers(cluster.api), "the API server answers")
        await asyncio.gather(
            *map(cluster.submit, late), *(cluster.submit(name, group="ring") for name in ring)
        )
        after = await cluster.running([*early, *late, *ring])
        assert [life(after[name]) for name in early] == [life(before[name]) for name in early]
        await cluster.sound()
        await until(lambda: led_anew(cluster.api, renewed), "every part that needs a Lease holds it again")
        new = [end for end in await ends(cluster) if end not in long_ago]
        assert [end for end in new if end["reason"] != "Completed" and end["exitCode"] != 1] == []

    play(kubeconfig, "api-server-dies", story)


async def answers(api: HttpApi) -> bool:
    return (await api.read("/readyz")).ok


async def renewals(api: HttpApi) -> dict[str, str]:
    """When each Lease was renewed."""
    found = {}
    for name, namespace in LEASES.items():
        reply = await api.read(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}")
        found[name] = str((reply.body.get("spec") or {}).get("renewTime"))
    return found


async def led_anew(api: HttpApi, before: dict[str, str]) -> bool:
    now = await renewals(api)
    return all(now[name] > before[name] for name in before)


async def ends(cluster: KindCluster) -> list[JSON]:
    """How the containers of all parts ended the last time, where they did."""
    pods = [pod for part in PARTS for pod in await cluster.hands.parts(part)]
    states = [
        found.get("lastState") or {} for pod in pods for found in pod["status"].get("containerStatuses") or ()
    ]
    return [state["terminated"] for state in states if "terminated" in state]
