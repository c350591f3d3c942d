"""Stories of pods that the extender alone refuses: what they cost, on nodes that have no kubelets.

kube-scheduler tries a rejected pod again at each change of a node or of a pod that is assigned, without back-off, and
at each change of what it has written of the pod itself: an answer that makes it write something new makes a loop.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from benchmarks import clusters
from benchmarks.clusters import MADE_UP, ONLY_THERE, made_up
from gpuyard import vocabulary
from gpuyard.auditing.accounts import LEDGER_PATH
from gpuyard.writes import PatchType, Write
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_kube.timestamps import rfc3339
from tests.e2e.stories.cluster import Cluster, node_of, until
from tests.e2e.stories.preemptions import urgency

_NODES: Final = "/api/v1/nodes"
_LOOK_SECONDS: Final = 1.0
"""A loop makes more than 80 calls a second."""
_LOOP: Final = 20
_CALLS: Final = re.compile(
    r'^gpuyard_extender_verb_duration_seconds_count\{verb="filter"\} (\S+)$', re.MULTILINE
)
_WAITING, _ROUNDS = 20, 4
_FRESH_SECONDS: Final = 60.0
"""Making the nodes takes most of it."""


async def a_pod_for_which_others_would_leave_in_vain_is_asked_about_twice(cluster: Cluster) -> None:
    async with nodes(cluster, 50) as names, urgency(cluster) as urgent:
        await asyncio.gather(*(come(cluster, f"low-{n}", nodeName=name) for n, name in enumerate(names)))
        costs = []
        for number in range(2):
            before = await filtered(cluster)
            await come(cluster, f"picky-{number}", model="H100", gpus=1, priorityClassName=urgent)
            await until(lambda: refused(cluster, 1), "the pod has been refused")
            await asyncio.sleep(_LOOK_SECONDS)
            costs.append(await filtered(cluster) - before)
            await leave(cluster, [f"picky-{number}"])
        # The second call comes of the condition that is written after the first; something else may have changed.
        assert min(costs) == 2, costs
        assert max(costs) < _LOOP, costs


async def of_many_rejected_pods_each_is_asked_about_once_for_a_change(cluster: Cluster) -> None:
    async with nodes(cluster, 8) as names:
        await asyncio.gather(*(come(cluster, f"picky-{n}", model="H100", gpus=1) for n in range(_WAITING)))
        await until(lambda: refused(cluster, _WAITING), "all of them have been refused")
        before = await filtered(cluster)
        for number in range(_ROUNDS):
            change = {"metadata": {"labels": {"example.com/round": str(number)}}}
            path = f"{_NODES}/{names[number]}"
            assert (await cluster.api.send(Write("PATCH", path, change, PatchType.MERGE))).ok
            await come(cluster, f"good-{number}", gpus=1)
            await cluster.bound(f"good-{number}")
        # Two changes a round, the node and the pod that was bound; one more for what was under way.
        assert await filtered(cluster) - before <= _WAITING * (2 * _ROUNDS + 1) + _ROUNDS


async def of_200_nodes_that_are_new_at_once_the_first_pod_has_one_within_seconds(cluster: Cluster) -> None:
    """X23: another scheduler shook hands with each of them, five a second, and took 333 s."""
    now = asyncio.get_running_loop().time
    begun = now()
    async with nodes(cluster, 200):
        await come(cluster, "first", gpus=1)
        await cluster.bound("first")
        assert now() - begun < _FRESH_SECONDS


@asynccontextmanager
async def nodes(cluster: Cluster, count: int) -> AsyncIterator[Sequence[str]]:
    """So many nodes without kubelets, once nobody has to write on them any more; in the end they go with all pods."""
    found = [node for node in clusters.Cluster(2 * count, 0).nodes if is_whole(node)][:count]
    names = [str(node["metadata"]["name"]) for node in found]
    await asyncio.gather(*(cluster.create(_NODES, beating(made_up(node, 64))) for node in found))
    try:
        await until(lambda: known(cluster, names), "the extender knows the nodes")
        yield names
    finally:
        await leave(cluster, await cluster.pods())
        await asyncio.gather(*(cluster.api.send(Write("DELETE", f"{_NODES}/{name}")) for name in names))


def beating(node: dict[str, Any]) -> dict[str, Any]:
    """By its heart the controllers tell it from an earlier node of its name, which they take for lost by now."""
    beat = {"lastHeartbeatTime": rfc3339(AsyncioRuntime().now())}
    conditions = [{**found, **beat} for found in node["status"]["conditions"]]
    return {**node, "status": {**node["status"], "conditions": conditions}}


def is_whole(node: dict[str, Any]) -> bool:
    return bool(vocabulary.GPU in node["status"]["allocatable"])


async def known(cluster: Cluster, names: Sequence[str]) -> bool:
    """And whether the controllers have taken from them that they are not ready, which a new node is said to be."""
    ledger = await cluster.hands.ask(LEDGER_PATH)
    made = [
        node for node in await cluster.items(_NODES) if MADE_UP.items() <= node["metadata"]["labels"].items()
    ]
    marks = {taint["key"] for node in made for taint in node["spec"].get("taints") or ()}
    return all(name in str(ledger.body) for name in names) and "node.kubernetes.io/not-ready" not in marks


async def come(cluster: Cluster, name: str, *, model: str = "", gpus: int = 0, **spec: Any) -> None:
    """A pod for the made-up nodes."""
    limits = {"cpu": "1", **({vocabulary.GPU: str(gpus)} if gpus else {})}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}
    metadata = {"name": name, "annotations": {vocabulary.GPU_MODEL: model} if model else {}}
    await cluster.create(
        cluster.path, {"metadata": metadata, "spec": {**ONLY_THERE, "containers": [container], **spec}}
    )


async def leave(cluster: Cluster, names: Sequence[str] | dict[str, Any]) -> None:
    """At once: where no kubelet is, nobody says that the containers have ended."""
    query = {"gracePeriodSeconds": "0"}
    await asyncio.gather(
        *(cluster.api.send(Write("DELETE", f"{cluster.path}/{name}", query=query)) for name in names)
    )
    await cluster.gone(*names)


async def refused(cluster: Cluster, count: int) -> bool:
    """Whether so many pods have been told that they cannot be scheduled."""
    waiting = [pod for pod in (await cluster.pods()).values() if not node_of(pod)]
    conditions = [found for pod in waiting for found in pod["status"].get("conditions") or ()]
    return sum(found.get("reason") == "Unschedulable" for found in conditions) == count


async def filtered(cluster: Cluster) -> int:
    """How often the extenders have been asked to filter."""
    texts = await cluster.hands.measured()
    return sum(int(float(found)) for text in texts for found in _CALLS.findall(text))
