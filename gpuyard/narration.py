"""What a component tells of its decisions, so that a learner can follow a pod through the cluster."""

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Beat:
    """One decision of one component: `actor` is its name, `text` one line for people."""

    actor: str
    text: str


Narrator = Callable[[Beat], None]


def silent(_beat: Beat) -> None:
    """The narrator that tells nothing."""


def few(names: Collection[str], most: int = 3, between: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(itertools.islice(names, most)) + more


def words_of(error: BaseException) -> str:
    """What an exception says, or what it is where it has no words, as a time-out has none."""
    return str(error) or type(error).__name__
