"""Which devices of a node a pod may have by its wishes, or which wish the node cannot meet.

Stands for the hint providers of the kubelet's Topology Manager. Rules:
- A wish that all the devices there are cannot meet is named before any shortage of free ones: waiting does not help.
- Of the domains that would do, the one with the fewest free devices is tried first: larger holes stay whole.
- Where there is no inventory, model and memory are read from NVIDIA's labels; a topology cannot be known.
"""

from collections.abc import Collection, Iterator, Mapping

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.hardware.inventory import Device, Inventory, SharingMode
from gpuyard.placing import parts
from gpuyard.placing.cluster import Node
from gpuyard.placing.occupancy import Occupancy
from gpuyard.pods.limits import Limits
from gpuyard.pods.wishes import Topology, Wishes
from gpuyard.verdicts import Reason, Rejection


def narrowed(wishes: Wishes, occupancy: Occupancy, totals: Mapping[str, int]) -> Occupancy | Rejection:
    """The same devices, of which only those are idle that the pod may have; `totals`: what it asks for."""
    if not wishes.models and not wishes.memory_mib:
        return occupancy
    for resource, needed in sorted(totals.items()):
        mismatch = _mismatch(wishes, occupancy.inventory, occupancy.offered(resource), needed)
        if mismatch:
            return mismatch
    return occupancy.only(d for d in occupancy.devices if _suits(wishes, d, occupancy.inventory))


def domains(wishes: Wishes, occupancy: Occupancy, resources: Collection[str]) -> Iterator[Occupancy]:
    """The idle devices domain by domain, the domain with the fewest free ones of these resources first."""
    sets = wishes.topology.sets(occupancy.inventory.gpus)
    found = [occupancy.only(d for d in occupancy.devices if d.gpu in members) for members in sets]
    yield from sorted(found, key=lambda domain: _free(domain, resources))


def apart(wishes: Wishes, occupancy: Occupancy, totals: Mapping[str, int]) -> Rejection:
    """No domain has it all: what is asked, and the most that one domain has free."""
    most = max((_free(found, totals) for found in domains(wishes, occupancy, totals)), default=0)
    free = f"{_free(occupancy, totals)} free, but at most {most} together"
    asked = f"needs {sum(totals.values())} devices on one {wishes.topology.place}"
    return Rejection("", Reason.TOPOLOGY_UNSATISFIED, f"{asked}, {free}; {wishes.topology} was required")


def by_labels(wishes: Wishes, node: Node, totals: Mapping[str, int]) -> Rejection | None:
    """What a node without an inventory cannot meet, or nobody can know it to meet."""
    product = node.fit.labels.get(vocabulary.PRODUCT_LABEL, "")
    if wishes.models and not (product and wishes.likes(product)):
        found = f"the node's are {product}" if product else _unknown(vocabulary.PRODUCT_LABEL)
        return Rejection(node.name, Reason.GPU_MODEL_MISMATCH, f"needs {' or '.join(wishes.models)}; {found}")
    memory = node.fit.labels.get(vocabulary.MEMORY_LABEL, "")
    if wishes.memory_mib and not (memory.isdecimal() and int(memory) >= wishes.memory_mib):
        found = f"the node's have {memory} MiB" if memory.isdecimal() else _unknown(vocabulary.MEMORY_LABEL)
        detail = f"needs {wishes.memory_mib} MiB on a GPU; {found}"
        return Rejection(node.name, Reason.GPU_MEMORY_TOO_SMALL, detail)
    if wishes.limits:
        return Rejection(node.name, Reason.NO_SUCH_RESOURCE, _uncounted(wishes.limits))
    bound = wishes.required and wishes.topology is not Topology.BEST_EFFORT
    if bound and sum(totals.values()) > 1:
        detail = (
            f"{wishes.topology} was required; the node has no annotation {vocabulary.INVENTORY} to tell it by"
        )
        return Rejection(node.name, Reason.TOPOLOGY_UNSATISFIED, detail)
    return None


def _unknown(label: str) -> str:
    return f"the node has neither an annotation {vocabulary.INVENTORY} nor a label {label}"


def _uncounted(limited: Limits) -> str:
    return f"{limited.annotation}: the node has no annotation {vocabulary.INVENTORY} to keep count of its GPUs by"


def _mismatch(
    wishes: Wishes, inventory: Inventory, offered: Collection[Device], needed: int
) -> Rejection | None:
    """Where more devices are asked for than there are, that is the shortage to name, if all of them would do."""
    needed = min(needed, len(offered))
    models = {gpu.index: gpu.model for gpu in inventory.gpus}
    liked = [device for device in offered if wishes.likes(models[device.gpu])]
    if len(liked) < needed:
        has = ", ".join(sorted({models[device.gpu] for device in offered}))
        detail = f"needs {' or '.join(wishes.models)}; {len(liked)} of {len(offered)} are, the node has {has}"
        return Rejection("", Reason.GPU_MODEL_MISMATCH, detail)
    sizes = sorted((_memory(wishes, device, inventory) for device in liked), reverse=True)
    if needed and sizes[needed - 1] < wishes.memory_mib:
        large = sum(size >= wishes.memory_mib for size in sizes)
        detail = (
            f"needs {wishes.memory_mib} MiB each; {large} of {len(offered)} have it, the most is {sizes[0]}"
        )
        return Rejection("", Reason.GPU_MEMORY_TOO_SMALL, detail)
    return None


def _suits(wishes: Wishes, device: Device, inventory: Inventory) -> bool:
    model = next(gpu.model for gpu in inventory.gpus if gpu.index == device.gpu)
    return wishes.likes(model) and _memory(wishes, device, inventory) >= wishes.memory_mib


def _memory(wishes: Wishes, device: Device, inventory: Inventory) -> int:
    """What a container can use of the GPU's memory: time slices see all of it, MPS clients their part."""
    gpu = next(gpu for gpu in inventory.gpus if gpu.index == device.gpu)
    if parts.is_handle(device) and inventory.sharing.mode is SharingMode.MPS:
        return parts.used(device, gpu, inventory, wishes.limits).mib
    board = mig.board_of(gpu.model)
    if not device.size or board is None:
        return gpu.memory_mib
    return gpu.memory_mib * device.size // board.memory_slices


def _free(occupancy: Occupancy, resources: Collection[str]) -> int:
    return sum(len(occupancy.free(resource)) for resource in resources)
