"""Why a pod or a pod group waits, with what would make it fit: two questions to the extender made one.

Stands for `kubectl describe`, where it ends with the events. Law: remedies are those of a simulation of the same
objects, asked only where room is what is missing.
"""

from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.pods import memberships
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_cli.connecting.extender_proxy import Asked
from gpuyard_cli.extender_access import body_of
from gpuyard_kube.http import HttpApi

_NO_ROOM: Final = frozenset(
    {
        Reason.INSUFFICIENT_GPUS,
        Reason.SHARES_EXHAUSTED,
        Reason.NO_MIG_PLACEMENT,
        Reason.TOPOLOGY_UNSATISFIED,
        Reason.GPU_MODEL_MISMATCH,
        Reason.GPU_MEMORY_TOO_SMALL,
        Reason.GPU_UNHEALTHY,
        Reason.INSUFFICIENT_RESOURCES,
        Reason.GANG_UNPLACEABLE,
    }
)


async def explained_pod(api: HttpApi, extender: Asked, namespace: str, name: str) -> dict[str, Any]:
    """The extender's explanation, and under `remedies` what would help."""
    path = f"/v1/pods/{namespace}/{name}/explain"
    found = body_of(await extender.ask(path), f"pod {namespace}/{name}")
    if found["code"] in _NO_ROOM:
        group = found.get("group")
        objects = await (_gang(api, namespace, group) if group else _pod(api, namespace, name))
        found["remedies"] = await _remedies(extender, objects)
    return found


async def explained_group(api: HttpApi, extender: Asked, namespace: str, name: str) -> dict[str, Any]:
    """The same for a PodGroup."""
    path = f"/v1/podgroups/{namespace}/{name}/explain"
    found = body_of(await extender.ask(path), f"podgroup {namespace}/{name}")
    if found["code"] in _NO_ROOM:
        found["remedies"] = await _remedies(extender, await _gang(api, namespace, name))
    return found


async def _remedies(extender: Asked, objects: list[JSON]) -> list[dict[str, Any]]:
    """None where the extender, such as one of an older version, does not say."""
    reply = await extender.ask("/v1/simulations", {"objects": objects})
    outcomes = reply.body["outcomes"] if reply.ok else ()
    return [remedy for outcome in outcomes for remedy in outcome["remedies"]]


async def _pod(api: HttpApi, namespace: str, name: str) -> list[JSON]:
    reply = await api.read(f"/api/v1/namespaces/{namespace}/pods/{name}")
    return [{**reply.body, "kind": "Pod"}] if reply.ok else []


async def _gang(api: HttpApi, namespace: str, name: str) -> list[JSON]:
    """The members that wait, and a group that needs as many of them as do not run yet."""
    pods = await api.read(f"/api/v1/namespaces/{namespace}/pods")
    path = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups/{name}"
    group = await api.read(path)
    if not (pods.ok and group.ok):
        return []
    members = [pod for pod in pods.body["items"] if memberships.group_of(pod) == name]
    waiting = [pod for pod in members if not pod["spec"].get("nodeName")]
    needed = memberships.min_member(group.body)
    rest = max(1, needed - (len(members) - len(waiting)))
    smaller = {**group.body, "kind": "PodGroup", "spec": {"minMember": rest}}
    return [smaller, *({**pod, "kind": "Pod"} for pod in waiting)]
