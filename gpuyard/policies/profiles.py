"""Profiles: policies by weight, as a person writes them down, and their sum.

Stands for the weights of score plugins in kube-scheduler's configuration. Law: what a policy says counts by the order
that it brings the nodes into, evenly from 0 for the worst to 1 for the best, equals alike; so a weight means the same
for every policy, whatever its scores are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gpuyard import yard_fields
from gpuyard.policies import registry
from gpuyard.policies.candidates import Candidates, Policy, best
from gpuyard.policies.workload import Column
from gpuyard.yard_fields import InvalidYardError

_ONE: Final = 10**6
"""Counted in millionths: more than there are nodes, so that no two that differ become equal."""
_MOST: Final = 10**6
"""A weight beyond would mean no more, and sums have 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A policy: the sum of what its parts say, each times its weight."""

    parts: tuple[tuple[Policy, int], ...]

    def __call__(self, candidates: Candidates) -> Column:
        total = np.zeros(len(candidates.cpu), np.int64)
        for policy, weight in self.parts:
            total += weight * _places(best(policy(candidates)))
        return total

    def each(self, change: Callable[[Policy], Policy]) -> "Weighted":
        """The same with other policies at the same weights."""
        return Weighted(tuple((change(policy), weight) for policy, weight in self.parts))


def parse(document: Any) -> Mapping[str, Weighted]:
    """The profiles in a decoded file, by name. InvalidYardError names field and remedy of the first fault."""
    found = yard_fields.plain_mapping(document, "profiles")
    if not found:
        raise InvalidYardError("profiles", "none", "write one, such as training: {topology: 3, pack: 1}")
    return {name: _profile(name, weights) for name, weights in found.items()}


def _profile(name: str, weights: Any) -> Weighted:
    if name in registry.names():
        raise InvalidYardError(name, "a policy has this name", "give the profile another one")
    found = yard_fields.plain_mapping(weights, name)
    if not found:
        raise InvalidYardError(name, "no policy", "add one with its weight, such as pack: 1")
    return Weighted(tuple((_policy(name, policy), _weight(name, policy, found[policy])) for policy in found))


def _policy(profile: str, name: str) -> Policy:
    if name not in registry.names():
        known = ", ".join(registry.names())
        raise InvalidYardError(f"{profile}.{name}", "no policy has this name", f"use {known}")
    return registry.named(name)


def _weight(profile: str, name: str, weight: Any) -> int:
    if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= _MOST:
        remedy = f"write a whole number from 1 to {_MOST}"
        raise InvalidYardError(f"{profile}.{name}", f"{yard_fields.short(weight)} is not a weight", remedy)
    return weight


def _places(scores: Column) -> Column:
    """The place of each row among the different scores, from 0 to one; 0 for all where all are equal."""
    different, places = np.unique(scores, return_inverse=True)
    found: Column = places * _ONE // max(1, len(different) - 1)
    return found
