"""The verdicts of all nodes in few lines: by reason, those that leave the least to change first."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gpuyard.advice import explain
from gpuyard.groups import plans
from gpuyard.narration import few
from gpuyard.verdicts import Reason

_DETAILS: Final = 4
"""So many wordings of one reason are shown."""
_COLUMN: Final = 22


def causes(nodes: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table from verdicts as `plans.rejection_to_json` writes them."""
    found = explain.alike(map(plans.rejection_from_json, nodes))
    yield from of_groups([(one.reason, list(one.nodes), one.details) for one in found])


def of_groups(groups: Sequence[tuple[Reason, list[str], Sequence[tuple[str, int]]]]) -> Iterator[str]:
    """The same from reasons with their nodes, and how many of these say what."""
    if groups:
        yield from ["", f"{'NODES':>7}  {'REASON':<{_COLUMN}}WHICH"]
    for reason, names, details in groups:
        # A verdict on no node is one on all of them together.
        judged = str(len(names)) if any(names) else "all"
        yield f"{judged:>7}  {reason:<{_COLUMN}}{few([name for name in names if name])}".rstrip()
        for text, count in details[:_DETAILS]:
            yield f"{'':9}{f'{count} × ' if len(details) > 1 else ''}{text or reason.text}"
        if len(details) > _DETAILS:
            yield f"{'':9}and {len(details) - _DETAILS} more wordings: see -o json"
        yield f"{'':9}to change: {reason.change}"
