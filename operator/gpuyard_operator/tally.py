"""What the operator has done, counted since it started, and what it was not let do.

Law: plain numbers that the core counts up; how they are told, and to whom, is the matter of `metrics`.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from gpuyard.writes import Reply, Write

_REMEDIES: Final = {
    403: "give it the rights of manifests/operator-cluster-role.yaml",
    404: "install the definitions of manifests/crds",
}

_GROUP: Final = 'podgroups.scheduling.x-k8s.io "'
"""How an API server begins to say which group is not found; without a definition it names none."""


@dataclass(slots=True)
class Tally:
    reconciles: int = 0
    """Decisions about a group."""
    writes: Counter[str] = field(default_factory=Counter)
    """Those that the API server took, by resource."""
    failed_writes: Counter[str] = field(default_factory=Counter)
    forbidden: dict[str, str] = field(default_factory=dict)
    """Resource -> why it may not be written, until one is."""

    def note(self, write: Write, reply: Reply) -> bool:
        """Count a write. Whether it is done: what is to be deleted may be gone already, and so may the group."""
        name = resource(write)
        gone = reply.status == 404 and (write.method == "DELETE" or reply.reason.startswith(_GROUP))
        done = reply.ok or gone
        counts = self.writes if done else self.failed_writes
        counts[name] += 1
        if done:
            self.forbidden.pop(name, None)
        elif reply.status == 403 and " cannot " in reply.reason:  # not a quota, nor a namespace that ends
            self.forbidden[name] = lacking(f"write {name}", reply)
        return done


def lacking(what: str, reply: Reply) -> str:
    """Why the operator cannot do something, with the remedy where there is one."""
    remedy = _REMEDIES.get(reply.status)
    return f"cannot {what}: {reply.reason}{f'; {remedy}' if remedy else ''}"


def resource(write: Write) -> str:
    """What is written: such as pods, pods/eviction, podgroups/status."""
    _, _, rest = write.path.partition("/namespaces/")
    plural, _, tail = rest.partition("/")[2].partition("/")
    part = tail.partition("/")[2]
    return f"{plural}/{part}" if part else plural


def is_status(write: Write) -> bool:
    """Whether it only tells people how a group is."""
    return resource(write) == "podgroups/status"
