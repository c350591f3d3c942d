"""The labels that GPU feature discovery would write on the node, from the same inventory as the device list.

Stands for NVIDIA's gpu-feature-discovery (internal/lm). Rules:

| strategy | nvidia.com/gpu.* | nvidia.com/mig-<profile>.* |
|---|---|---|
| none | the physical GPUs, whatever their MIG mode | - |
| single | the MIG devices: product `<P>-MIG-<profile>`, count and memory of the instances | - |
| mixed | the physical GPUs; replicas 0 where none of them is whole | one group for each profile |
| dynamic | the physical GPUs, as long as they are cut too | one group for each profile that there is now |

One product's labels win: that of the first whole GPU, else of the first GPU. No GPUs, no labels.
What takes a driver to know (versions, engines, machine, clique) is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.hardware import mig, models
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode

Labels = dict[str, str]

_PREFIX: Final = "nvidia.com/"


def labels(inventory: Inventory) -> Labels:
    """The labels of a node with this inventory."""
    if not inventory.gpus:
        return {}
    found = dict(_physical(inventory))

    def shared(resource: str) -> _Shared:
        return _Shared.of(inventory.sharing, resource)

    split = [gpu for gpu in inventory.gpus if gpu.mig_enabled]
    if inventory.mig_strategy is not MigStrategy.NONE:
        found["mig.strategy"] = inventory.mig_strategy.value
    if inventory.mig_strategy is MigStrategy.SINGLE:
        for profile, gpus in _by_profile(split).items():
            found |= _instances("gpu", profile, gpus, shared(vocabulary.GPU))
    if inventory.mig_strategy in (MigStrategy.MIXED, MigStrategy.DYNAMIC):
        for profile, gpus in _by_profile(split).items():
            sharing = shared(vocabulary.mig_resource(profile))
            found |= _instances(f"mig-{_written(profile)}", profile, gpus, sharing)
    return {_PREFIX + key: value for key, value in sorted(found.items())}


@dataclass(frozen=True, slots=True)
class _Shared:
    """How one resource is shared, in the words of its labels."""

    replicas: int
    strategy: str
    suffix: str
    """Of the product: a renamed resource says so itself."""

    @staticmethod
    def of(sharing: Sharing, resource: str) -> "_Shared":
        if (replicas := sharing.of(resource)) == 1:
            return _Shared(1, SharingMode.NONE.value, "")
        return _Shared(replicas, sharing.mode.value, "" if sharing.renamed else "-SHARED")


def _physical(inventory: Inventory) -> Iterator[tuple[str, str]]:
    on_demand = inventory.mig_strategy is MigStrategy.DYNAMIC
    whole = [gpu for gpu in inventory.gpus if on_demand or not gpu.mig_enabled]
    first = (whole or inventory.gpus)[0]
    advertised = whole or inventory.mig_strategy is MigStrategy.NONE
    shared = _Shared.of(inventory.sharing, vocabulary.GPU)
    yield "gpu.present", "true"
    yield "gpu.product", mig.product_label(first.model) + shared.suffix
    yield "gpu.count", str(sum(gpu.model == first.model for gpu in inventory.gpus))
    yield "gpu.memory", str(first.memory_mib)
    yield "gpu.replicas", str(shared.replicas if advertised else 0)
    yield "gpu.sharing-strategy", shared.strategy
    yield "mig.capable", str(mig.board_of(first.model) is not None).lower()
    if (model := models.model_of(first.model)) is not None:
        yield "gpu.family", model.family
        yield "gpu.compute.major", str(model.compute[0])
        yield "gpu.compute.minor", str(model.compute[1])


def _by_profile(split: Sequence[GPU]) -> dict[str, list[GPU]]:
    """The GPU of each instance, by profile: a GPU with two instances of one profile comes twice."""
    found: dict[str, list[GPU]] = defaultdict(list)
    for gpu in split:
        for instance in gpu.instances:
            found[instance.profile].append(gpu)
    return found


def _instances(group: str, profile: str, gpus: Sequence[GPU], shared: _Shared) -> Iterator[tuple[str, str]]:
    product = f"{mig.product_label(gpus[0].model)}-MIG-{_written(profile)}"
    yield f"{group}.product", product + shared.suffix
    yield f"{group}.count", str(len(gpus))
    yield f"{group}.replicas", str(shared.replicas)
    yield f"{group}.sharing-strategy", shared.strategy
    board = mig.board_of(gpus[0].model)
    geometry = board.profile(profile) if board is not None else None
    if geometry is None:
        return
    yield f"{group}.slices.gi", str(geometry.compute_slices)
    yield f"{group}.slices.ci", str(geometry.compute_slices)
    if geometry.memory_mib:
        yield f"{group}.memory", str(geometry.memory_mib)
    if geometry.multiprocessors:
        yield f"{group}.multiprocessors", str(geometry.multiprocessors)


def _written(profile: str) -> str:
    """As in a resource name: labels may not hold a plus sign either."""
    return profile.replace("+", ".")
