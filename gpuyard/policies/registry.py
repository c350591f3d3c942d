"""Policies by name: those of the project, and those of installed distributions (entry points `gpuyard.policies`)."""

from collections.abc import Mapping
from importlib import metadata
from typing import Final

from gpuyard.policies import counted, foresight, fragmentation, installed, published
from gpuyard.policies.candidates import Policy

PLUGINS: Final = "gpuyard.policies"

POLICIES: Final[Mapping[str, Policy]] = {
    "bestfit": published.bestfit,
    "clustering": published.clustering,
    "dotprod": published.dotprod,
    "fgd": fragmentation.fgd,
    "foresight": foresight.foresight,
    "mig-holes": counted.mig_holes,
    "pack": counted.pack,
    "packing": published.packing,
    "random": published.random,
    "spread": counted.spread,
    "topology": counted.topology,
}

DRAWN: Final = frozenset({published.random})
"""Policies whose scores change with `Candidates.draw`: nothing of theirs may be remembered."""

COSTLY: Final = frozenset({fragmentation.fgd, foresight.foresight})
"""Policies that take longer than to look up what they said of a node that looked the same."""

BLIND: Final = frozenset(POLICIES.values()) - COSTLY
"""Policies that do not look at the workload: to learn it takes longer than they do."""


class UnknownPolicyError(ValueError):
    """No policy has this name; the message lists those that there are."""


def names() -> list[str]:
    """All names, in order."""
    return sorted({*POLICIES, *(found.name for found in metadata.entry_points(group=PLUGINS))})


def named(name: str | Policy) -> Policy:
    """The policy of this name, or one that is given. Nothing that is installed replaces one of the project.

    PolicyError when one that is installed cannot be loaded, and from then on when it fails.
    """
    if not isinstance(name, str):
        return name
    if name in POLICIES:
        return POLICIES[name]
    for found in metadata.entry_points(group=PLUGINS, name=name):
        return installed.load(found)
    raise UnknownPolicyError(f"no policy is called {name!r}; there are {', '.join(names())}")
