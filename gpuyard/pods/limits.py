"""How much of one GPU a share may use: thousandths of its time and MiB of its memory.

Stands for the fractions of a GPU that schedulers such as KAI and HAMi keep books of. Rules:

    gpuyard.io/gpu-milli    1 to 1000: thousandths of one GPU
    gpuyard.io/gpu-memory   a quantity such as 10Gi, rounded up to MiB

Either stands on a pod that asks for exactly one share of a whole GPU: the share is a handle, and this is what it is
worth. Who says only one of them uses the same part of the other. Parts are rounded down, so that what is given out of
a GPU never adds up to more than there is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.hardware.gpus import GPU, WHOLE
from gpuyard.pods import quantities
from gpuyard.pods.amounts import MIB

ANNOTATIONS: Final = (vocabulary.GPU_MILLI, vocabulary.GPU_MEMORY)
"""All that are read here."""
_SHARES: Final = (vocabulary.GPU_SHARED, vocabulary.GPU)
_REMEDY: Final = f"ask for one {vocabulary.GPU_SHARED}, or leave the annotation out"


@dataclass(frozen=True, slots=True)
class Limits:
    """So many thousandths of one GPU, and so much of its memory; 0 in what a pod asks: it does not say."""

    milli: int = 0
    mib: int = 0

    def __bool__(self) -> bool:
        return bool(self.milli or self.mib)

    def __str__(self) -> str:
        return f"{self.milli} thousandths and {self.mib} MiB"

    @property
    def asked(self) -> str:
        """What a pod says, for people."""
        return (
            str(self)
            if self.milli and self.mib
            else f"{self.mib} MiB"
            if self.mib
            else f"{self.milli} thousandths"
        )

    @property
    def annotation(self) -> str:
        """The annotation that said so, or the first of both."""
        return vocabulary.GPU_MILLI if self.milli else vocabulary.GPU_MEMORY

    def on(self, gpu: GPU) -> "Limits":
        """With what the pod does not say: the same part of this GPU."""
        milli = self.milli or max(1, self.mib * WHOLE // max(1, gpu.memory_mib))
        return Limits(milli, self.mib or gpu.memory_mib * self.milli // WHOLE)

    def within(self, left: "Limits") -> bool:
        return self.milli <= left.milli and self.mib <= left.mib

    def __add__(self, other: "Limits") -> "Limits":
        return Limits(self.milli + other.milli, self.mib + other.mib)

    def __sub__(self, other: "Limits") -> "Limits":
        """What is left: never below nothing."""
        return Limits(max(0, self.milli - other.milli), max(0, self.mib - other.mib))


NONE: Final = Limits()


def parse(annotations: Mapping[str, Any]) -> Limits:
    """The limits in a pod's annotations; ValueError names the annotation and the remedy."""
    milli, mib = annotations.get(vocabulary.GPU_MILLI), annotations.get(vocabulary.GPU_MEMORY)
    if milli is None and mib is None:
        return NONE
    return Limits(_milli(milli), memory(vocabulary.GPU_MEMORY, mib))


def check(limits: Limits, totals: Mapping[str, int]) -> None:
    """ValueError unless a pod that asks for these devices can have such limits."""
    if not limits or (sum(totals.values()) == 1 and totals.keys() <= set(_SHARES)):
        return
    asked = " and ".join(f"{count} {resource}" for resource, count in sorted(totals.items()) if count)
    raise ValueError(
        f"{limits.annotation}: it limits one share, the pod asks for {asked or 'none'}; {_REMEDY}"
    )


def no_share(limits: Limits, resource: str) -> str:
    """Why a node whose devices of this resource are no shares will not do."""
    return f"{limits.annotation}: it limits one share, {resource} is none on this node; {_REMEDY}"


def memory(annotation: str, text: Any) -> int:
    """The MiB of an annotation, 0 without one. ValueError names it."""
    if text is None:
        return 0
    try:
        size = quantities.rounded_up(text)
    except ValueError as error:
        raise ValueError(f"{annotation}: {error}; write one such as 40Gi") from error
    if size < MIB:
        # Somebody who writes 40960 means MiB, and would get any GPU.
        raise ValueError(f"{annotation}: {text!r:.40} is less than 1Mi; write a unit, such as 40Gi")
    return -(-size // MIB)


def _milli(text: Any) -> int:
    if text is None:
        return 0
    try:
        milli = quantities.whole(text)
    except ValueError as error:
        raise ValueError(
            f"{vocabulary.GPU_MILLI}: {error}; write 1 to {WHOLE} thousandths of a GPU"
        ) from error
    if not 1 <= milli <= WHOLE:
        remedy = f"write 1 to {WHOLE}; who needs more asks for whole GPUs ({vocabulary.GPU})"
        raise ValueError(f"{vocabulary.GPU_MILLI}: {text!r:.40} thousandths are no part of one GPU; {remedy}")
    return milli
