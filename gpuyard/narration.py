"""What a component tells of its decisions, so that a learner can follow a pod through the cluster."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Beat:
    """One decision of one component: `actor` is its name, `text` one line for people."""

    actor: str
    text: str


Narrator = Callable[[Beat], None]


def silent(_beat: Beat) -> None:
    """The narrator that tells nothing."""
