"""What a queue holds and who waits in its line, as the operator decides it.

Stands for Kueue's API of pending workloads. Law: it is said of lists of the objects that the operator watches, and
is what the operator itself would make of them; so whoever can list them need not ask the operator.
"""

from collections.abc import Iterable, Mapping

from gpuyard.groups import queues
from gpuyard.verdicts import SCHEDULED
from gpuyard.writes import JSON
from gpuyard_operator.cache import Cache
from gpuyard_operator.objects import groups
from gpuyard_operator.objects.groups import Key


def explain_queue(name: str, listed: Mapping[str, Iterable[JSON]], now: float) -> JSON | None:
    """{"queue", "quota", "used", "holding", "waiting": [{"podGroup", "code", "detail"}]}; None without such a queue.

    `listed` has the objects of each resource of `cache.PATHS`.
    """
    cache = Cache()
    for resource, objects in listed.items():
        cache.replace(resource, objects)
    cache.queues.settle(now)
    state = cache.queues.state(name)
    if state.queue is None:
        return None
    return {
        "queue": name,
        "quota": {name: queues.text(name, amount) for name, amount in sorted(state.queue.quota.items())},
        "used": state.status()["used"],
        "holding": sorted("/".join(key) for key, found in state.groups.items() if found.holds),
        "waiting": [_waiting(key, cache) for key in state.waiting()],
    }


def _waiting(key: Key, cache: Cache) -> JSON:
    """Why a group waits: what the queue says, or else, for one that has its turn, its own condition."""
    admission = cache.queues.admission(key)
    if admission is not None and admission.refusal is not None:
        code, detail = admission.refusal.reason.value, admission.refusal.detail
    else:
        group = groups.read(cache.group(key))
        told = group.condition(SCHEDULED) if group else {}
        code, detail = str(told.get("reason") or ""), str(told.get("message", ""))
    return {"podGroup": "/".join(key), "code": code, "detail": detail}
