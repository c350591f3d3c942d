"""What a pod wishes of its GPUs beside their number: model, memory, and how they lie to each other.

Stands for the node labels of GPU feature discovery that people select by, but per GPU, and for the kubelet's Topology
Manager. Wishes are annotations of the pod. Rules:

    gpuyard.io/gpu-model        products, comma-separated: A100 means any A100, NVIDIA-A100-SXM4-40GB just this one
    gpuyard.io/min-gpu-memory   a quantity: what each whole GPU, MIG instance or MPS client has at least
    gpuyard.io/topology         same-numa, same-switch, nvlink: all GPUs of the pod in one such domain; or best-effort
    gpuyard.io/topology-policy  required (unless said otherwise) or preferred

What one share may use of its GPU is read here, too (`gpuyard.pods.limits`).
"""

import enum
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.hardware import mig, topology
from gpuyard.hardware.gpus import GPU
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits

ANNOTATIONS: Final = (
    vocabulary.GPU_MODEL,
    vocabulary.MIN_GPU_MEMORY,
    vocabulary.TOPOLOGY,
    vocabulary.TOPOLOGY_POLICY,
    *limits.ANNOTATIONS,
)
"""All that are read here."""
_POLICIES: Final = ("required", "preferred")
MOST_MODEL_TEXT: Final = 1024
"""Each model is looked for on each device of each node, and why it is not there is said for each node."""


class Topology(enum.StrEnum):
    """In which kind of domain the GPUs shall lie together."""

    SAME_NUMA = "same-numa"
    SAME_SWITCH = "same-switch"
    NVLINK = "nvlink"
    BEST_EFFORT = "best-effort"
    """In none: the nearest set of GPUs, as pods get it that say nothing."""

    @property
    def place(self) -> str:
        """The domain, for people."""
        return _PLACES[self]

    def domain(self, gpu: GPU) -> Hashable:
        """GPUs lie together if this is equal. A GPU without NVLink is linked with itself alone."""
        match self:
            case Topology.SAME_NUMA:
                return gpu.numa
            case Topology.SAME_SWITCH:
                return gpu.numa, gpu.switch
            case Topology.NVLINK:
                return ("alone", gpu.index) if gpu.nvlink is None else ("linked", gpu.nvlink)
            case Topology.BEST_EFFORT:
                return ()

    def sets(self, gpus: Collection[GPU]) -> list[frozenset[int]]:
        """The largest sets of these GPUs that lie together, by index; NVLinks that failed make them overlap."""
        members = defaultdict[Hashable, list[GPU]](list)
        for gpu in gpus:
            members[self.domain(gpu)].append(gpu)
        if self is Topology.NVLINK:
            return [found for domain in members.values() for found in topology.linked_sets(domain)]
        return [frozenset(gpu.index for gpu in domain) for domain in members.values()]


_PLACES: Final = {
    Topology.SAME_NUMA: "NUMA node",
    Topology.SAME_SWITCH: "PCIe switch",
    Topology.NVLINK: "NVLink domain",
    Topology.BEST_EFFORT: "node",
}


@dataclass(frozen=True, slots=True)
class Wishes:
    """The wishes of one pod. Empty `models`: any; `topology` best-effort: as near as may be."""

    models: tuple[str, ...] = ()
    memory_mib: int = 0
    topology: Topology = Topology.BEST_EFFORT
    required: bool = True
    """Whether the pod rather waits than does without the topology."""
    limits: Limits = limits.NONE
    """How much of its GPU the pod's share may use."""

    def likes(self, product: str) -> bool:
        """Whether a GPU of this product would do."""
        found = f"-{mig.product_label(product)}-".lower()
        return not self.models or any(f"-{model}-" in found for model in self.models)

    def met_by(self, gpus: Collection[GPU]) -> bool:
        """Whether these GPUs lie together as wished."""
        return len(self.topology.sets(gpus)) <= 1


NONE: Final = Wishes()


def parse(annotations: Mapping[str, Any]) -> Wishes:
    """The wishes in a pod's annotations; ValueError names the annotation and the remedy."""
    policy = annotations.get(vocabulary.TOPOLOGY_POLICY)
    topology = annotations.get(vocabulary.TOPOLOGY)
    return Wishes(
        _models(annotations.get(vocabulary.GPU_MODEL)),
        limits.memory(vocabulary.MIN_GPU_MEMORY, annotations.get(vocabulary.MIN_GPU_MEMORY)),
        _topology(topology),
        _required(policy, topology),
        limits.parse(annotations),
    )


def _models(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    if len(text) > MOST_MODEL_TEXT:
        raise ValueError(
            f"{vocabulary.GPU_MODEL}: more than {MOST_MODEL_TEXT} characters; name fewer models, such as A100"
        )
    models = tuple(mig.product_label(part.strip()).strip("-").lower() for part in text.split(","))
    if not all(models):
        raise ValueError(
            f"{vocabulary.GPU_MODEL}: {text!r:.40} names no model; write one such as A100, or several"
        )
    return tuple(sorted(set(models)))


def _topology(text: str | None) -> Topology:
    try:
        return Topology.BEST_EFFORT if text is None else Topology(text)
    except ValueError as error:
        raise ValueError(
            f"{vocabulary.TOPOLOGY}: {text!r:.40} is unknown; use {', '.join(Topology)}"
        ) from error


def _required(policy: str | None, topology: str | None) -> bool:
    if policy is None:
        return True
    if policy not in _POLICIES:
        raise ValueError(
            f"{vocabulary.TOPOLOGY_POLICY}: {policy!r:.40} is unknown; use {' or '.join(_POLICIES)}"
        )
    if topology is None:
        raise ValueError(f"{vocabulary.TOPOLOGY_POLICY}: there is no {vocabulary.TOPOLOGY}; add it")
    if policy == "required" and topology == Topology.BEST_EFFORT:
        raise ValueError(f"{vocabulary.TOPOLOGY_POLICY}: best-effort cannot be required; name a domain")
    return policy == "required"
