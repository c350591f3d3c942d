"""What the extender has done, counted since it started.

Law: plain numbers that the cores count up; how they are told, and to whom, is the matter of `metrics`.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

PASSED: Final = "Passed"
"""The verdict on a node that can take a pod, beside the reason codes."""


@dataclass(slots=True)
class Tally:
    verdicts: Counter[str] = field(default_factory=Counter)
    """On nodes, one for each node of each Filter, by reason code."""
    binds: Counter[str] = field(default_factory=Counter)
    """Answers to Bind: bound, refused."""
    woken: int = 0
    """Pods that were rejected too early and are tried again because of us."""
