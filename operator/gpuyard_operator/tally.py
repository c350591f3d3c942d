"""What the operator has done, counted since it started.

Law: plain numbers that the core counts up; how they are told, and to whom, is the matter of `metrics`.
"""

from collections import Counter
from dataclasses import dataclass, field

from gpuyard.writes import Write


@dataclass(slots=True)
class Tally:
    reconciles: int = 0
    """Decisions about a group."""
    writes: Counter[str] = field(default_factory=Counter)
    """Those that the API server took, by resource."""
    failed_writes: Counter[str] = field(default_factory=Counter)


def resource(write: Write) -> str:
    """What is written: such as pods, pods/eviction, podgroups/status."""
    _, _, rest = write.path.partition("/namespaces/")
    plural, _, tail = rest.partition("/")[2].partition("/")
    part = tail.partition("/")[2]
    return f"{plural}/{part}" if part else plural
