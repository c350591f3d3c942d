"""Why a pod group waits: what becomes of each of its members, and what the first one that waits is missing.

Stands for the conditions of a PodGroup, with the verdicts of all nodes.
"""

from collections.abc import Callable

from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_extender.advice.explaining import explain_pod
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod


def explain_group(
    namespace: str, name: str, ledger: Ledger, policy: Policy, now: float
) -> Callable[[], JSON] | None:
    """{"podGroup", "needed", "code", "detail"?, "members", "nodes"}; None where there is neither group nor member.

    What is returned makes it, where `policy` may be asked.
    `members` are {"pod", "phase", "node"?, "seat"?}: where each is, or where its place is reserved.
    """
    group, members = ledger.groups.named(namespace, name), ledger.members(namespace, name)
    if group is None and not members:
        return None
    needed = group.needed if group else 1
    about = {"podGroup": f"{namespace}/{name}", "needed": needed}
    told = {"members": [_member(pod, ledger, now) for pod in members]}
    if waiting := next((pod for pod in members if pod.pending), None):
        why = explain_pod(waiting, ledger, policy, now)
        return lambda: {**about, **_code(why()), **told}
    said: JSON = {"code": None, "nodes": []}
    if len(members) < needed:
        said |= {"code": Reason.GANG_WAITING.value, "detail": f"{len(members)} of {needed} members are there"}
    return lambda: {**about, **said, **told}


def _code(found: JSON) -> JSON:
    return {key: found[key] for key in ("code", "detail", "nodes") if key in found}


def _member(pod: Pod, ledger: Ledger, now: float) -> JSON:
    seated = ledger.seat(pod.uid, now)
    return {
        "pod": pod.name,
        "phase": pod.phase,
        **({"node": pod.node} if pod.node else {}),
        **({"seat": seated[1].node} if seated and not pod.node else {}),
    }
