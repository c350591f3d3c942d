"""What a queue holds and who waits in its line, as the gang operator sees it.

Law: nobody is asked but the API server. The operator's own cache is made from the same objects, so that what is said
here is what it does.
"""

from typing import Any

from gpuyard.groups import queues
from gpuyard.verdicts import SCHEDULED
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_operator import groups
from gpuyard_operator.cache import PATHS, Cache, items
from gpuyard_operator.groups import Key


async def explained_queue(api: Api, name: str) -> dict[str, Any]:
    """{"queue", "quota", "used", "holding", "waiting": [{"podGroup", "code", "detail"}]}.

    InvalidInputError when there is no such queue.
    """
    cache = Cache()
    for resource, path in PATHS.items():
        reply = await api.read(path)
        if not reply.ok:
            raise InvalidInputError("cluster", path, reply.reason, "is this a cluster with GPUYard's CRDs?")
        cache.replace(resource, *items(reply))
    cache.queues.settle(AsyncioRuntime().now())
    state = cache.queues.state(name)
    if state.queue is None:
        raise InvalidInputError(f"queue {name}", "", "there is none", "see kubectl get queues.gpuyard.io")
    return {
        "queue": name,
        "quota": {name: queues.text(name, amount) for name, amount in sorted(state.queue.quota.items())},
        "used": state.status()["used"],
        "holding": sorted("/".join(key) for key, found in state.groups.items() if found.holds),
        "waiting": [_waiting(key, cache) for key in state.waiting()],
    }


def _waiting(key: Key, cache: Cache) -> dict[str, Any]:
    """Why a group waits: what the queue says, or else, for one that has its turn, its own condition."""
    admission = cache.queues.admission(key)
    if admission is not None and admission.refusal is not None:
        code, detail = admission.refusal.reason.value, admission.refusal.detail
    else:
        group = groups.read(cache.group(key))
        told = group.condition(SCHEDULED) if group else {}
        code, detail = str(told.get("reason") or ""), str(told.get("message", ""))
    return {"podGroup": "/".join(key), "code": code, "detail": detail}
