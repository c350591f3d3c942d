"""What a queue holds and who waits in its line, as the gang operator sees it.

Law: nobody is asked but the API server. The operator's own books are made from the same objects, so that what is said
here is what it does.
"""

from typing import Any

from gpuyard.groups import queues
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_operator import groups
from gpuyard_operator.memory import PATHS, Memory, items
from gpuyard_operator.shelf import Key
from gpuyard_operator.status import SCHEDULED


async def explained_queue(api: Api, name: str) -> dict[str, Any]:
    """{"queue", "quota", "used", "holding", "waiting": [{"podGroup", "code", "detail"}]}.

    InvalidInputError when there is no such queue.
    """
    memory = Memory()
    for resource, path in PATHS.items():
        reply = await api.read(path)
        if not reply.ok:
            raise InvalidInputError("cluster", path, reply.reason, "is this a cluster with GPUYard's CRDs?")
        memory.replace(resource, *items(reply))
    memory.board.settle(AsyncioRuntime().now())
    book = memory.board.book(name)
    if book.queue is None:
        raise InvalidInputError(f"queue {name}", "", "there is none", "see kubectl get queues.gpuyard.io")
    return {
        "queue": name,
        "quota": {name: queues.text(name, amount) for name, amount in sorted(book.queue.quota.items())},
        "used": book.status()["used"],
        "holding": sorted("/".join(key) for key, found in book.groups.items() if found.holds),
        "waiting": [_waiting(key, memory) for key in book.waiting()],
    }


def _waiting(key: Key, memory: Memory) -> dict[str, Any]:
    """Why a group waits: what the queue says, or else, for one that has its turn, its own condition."""
    standing = memory.board.standing(key)
    if standing is not None and standing.refusal is not None:
        code, detail = standing.refusal.reason.value, standing.refusal.detail
    else:
        group = groups.read(memory.group(key))
        told = group.condition(SCHEDULED) if group else {}
        code, detail = str(told.get("reason") or ""), str(told.get("message", ""))
    return {"podGroup": "/".join(key), "code": code, "detail": detail}
