"""What can be set, and the spans of time that the extender keeps."""

from dataclasses import dataclass
from typing import Final

SCORE_STEP: Final = 151
"""Points between two ranks. kube-scheduler multiplies a score by 10: one rank outweighs all in-tree scores together,
of which 949 were seen to lie between the best and the worst node of a pod."""

BARRIER_SECONDS: Final = 3.0
"""How long members of a gang are held at Bind; kube-scheduler gives up on an extender after 5 s."""

BARRIER_ALONE_SECONDS: Final = 2.0
"""How long, as long as the first seat of those to bind is not among them. Members whose back-offs have come apart
would miss each other for ever if all came in the same rhythm: so the first comes in a slower one, and meets them."""

RESERVATION_SECONDS: Final = 60.0
"""How long a planned gang keeps its places."""

TENTATIVE_SECONDS: Final = 5.0
"""How long a pod counts on the node that it was ranked onto: its Bind follows within milliseconds, or not at all."""

SENT_SECONDS: Final = 60.0
"""How long a pod counts on the node that its Binding named, until it is seen there."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one extender."""

    policy: str = "pack"
    """One of `gpuyard.policies.registry.names()`."""
