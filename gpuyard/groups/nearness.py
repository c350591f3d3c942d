"""How near the members of a gang want to be to each other: in one rack, or one block of racks.

Stands for the topology annotations of Kueue's pod sets. The wish is annotations of the PodGroup, in the words that
pods have for their GPUs (`wishes`):

    gpuyard.io/topology         same-rack, same-block: all members with GPUs on nodes with one such label
    gpuyard.io/topology-policy  required (unless said otherwise), or preferred: in as few racks as can be
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary


class Domain(enum.StrEnum):
    """What the nodes of a gang have in common."""

    SAME_RACK = "same-rack"
    SAME_BLOCK = "same-block"

    @property
    def label(self) -> str:
        """The node label that names the domain of a node."""
        return {Domain.SAME_RACK: vocabulary.RACK, Domain.SAME_BLOCK: vocabulary.BLOCK}[self]

    @property
    def place(self) -> str:
        """The domain, for people."""
        return self.removeprefix("same-")


@dataclass(frozen=True, slots=True)
class Nearness:
    """One such domain for all; where it is not `required`, as few as can be."""

    domain: Domain
    required: bool = True

    @property
    def annotations(self) -> dict[str, str]:
        """The wish, as it is written on a PodGroup."""
        policy = "required" if self.required else "preferred"
        return {vocabulary.TOPOLOGY: self.domain.value, vocabulary.TOPOLOGY_POLICY: policy}


def parse(annotations: Mapping[str, Any]) -> Nearness | None:
    """The wish of a PodGroup with these annotations. ValueError names the annotation and the remedy."""
    wanted, policy = annotations.get(vocabulary.TOPOLOGY), annotations.get(vocabulary.TOPOLOGY_POLICY)
    if wanted is None:
        return None
    domains = list(Domain)
    if wanted not in domains:
        raise ValueError(
            f"{vocabulary.TOPOLOGY}: {wanted!r:.40} is unknown on a PodGroup; use {' or '.join(domains)}"
        )
    if policy not in (None, "required", "preferred"):
        raise ValueError(
            f"{vocabulary.TOPOLOGY_POLICY}: {policy!r:.40} is unknown; use required or preferred"
        )
    return Nearness(Domain(wanted), policy != "preferred")
