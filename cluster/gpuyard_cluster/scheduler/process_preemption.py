"""Asking an extender whom to remove.

Stands for HTTPExtender's ProcessPreemption. Whichever form is sent, full pods or UIDs, the answer names UIDs, and it
replaces what was asked about: nodes that it leaves out are no candidates any more.
"""

from collections.abc import Mapping

from gpuyard.writes import JSON
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderError, sent
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.victims import Victims


async def process_preemption(
    extender: Extender, pod: PodInfo, found: Mapping[str, Victims], cache: ClusterCache
) -> dict[str, Victims]:
    """By node, whom the extender removes there. ExtenderError."""
    reply = await extender.client.preempt(_args(pod, found, meta=extender.config.node_cache_capable))
    try:
        answers = (reply.get("NodeNameToMetaVictims") or {}).items()
        return {node: _victims(extender, node, answer, cache) for node, answer in answers}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ExtenderError(f'extender "{extender.url}": the answer to preempt cannot be decoded') from error


def _args(pod: PodInfo, found: Mapping[str, Victims], *, meta: bool) -> JSON:
    """ExtenderPreemptionArgs."""
    told = {
        node: {
            "Pods": [{"UID": victim.uid} if meta else sent(victim) for victim in victims.pods],
            "NumPDBViolations": victims.violations,
        }
        for node, victims in found.items()
    }
    return {
        "Pod": sent(pod),
        "NodeNameToVictims": None if meta else told,
        "NodeNameToMetaVictims": told if meta else None,
    }


def _victims(extender: Extender, node: str, answer: JSON, cache: ClusterCache) -> Victims:
    if node not in cache.names:
        raise ExtenderError(f'nodeinfo not found for node name "{node}"')
    booked = {found.uid: found for found in cache.booked_on(node)}
    uids = [found["UID"] for found in answer.get("Pods") or ()]
    stranger = next((uid for uid in uids if uid not in booked), None)
    if stranger is not None:
        raise ExtenderError(
            f"extender: {extender.url} claims to preempt pod (UID: {stranger}) on node: {node}, "
            "but the pod is not found on that node"
        )
    return Victims(tuple(booked[uid] for uid in uids), int(answer.get("NumPDBViolations") or 0))
