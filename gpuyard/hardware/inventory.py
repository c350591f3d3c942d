"""What the GPUs of a node are, and which devices its plugin makes of them.

Stands for NVIDIA's resource manager. The device plugin writes an inventory as a node annotation; everyone reads it.
"""

import dataclasses
import enum
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpuyard import vocabulary
from gpuyard.hardware import boards
from gpuyard.hardware.gpus import GPU, placement_uuid


class SharingMode(enum.StrEnum):
    """How one GPU serves several containers, in the words of the label nvidia.com/gpu.sharing-strategy."""

    NONE = "none"
    TIME_SLICING = "time-slicing"
    MPS = "mps"


class MigStrategy(enum.StrEnum):
    """How MIG instances are advertised: not at all, as nvidia.com/gpu, or as nvidia.com/mig-<profile>.

    `dynamic` is ours: there is a device for each place of each profile, and an instance only while a pod holds it; a
    GPU without any can be had whole.
    """

    NONE = "none"
    SINGLE = "single"
    MIXED = "mixed"
    DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True)
class Sharing:
    """Each device of nvidia.com/gpu is advertised `replicas` times, as nvidia.com/gpu.shared if renamed.

    `instances` are the MIG resources that are shared, too, each with its replicas, sorted.
    """

    mode: SharingMode = SharingMode.NONE
    replicas: int = 1
    renamed: bool = False
    instances: tuple[tuple[str, int], ...] = ()

    def of(self, resource: str) -> int:
        """How many shares there are of each device of a resource, by either name; 1: it is not shared."""
        name = resource.removesuffix(vocabulary.SHARED_SUFFIX)
        return self.replicas if name == vocabulary.GPU else dict(self.instances).get(name, 1)


@dataclass(frozen=True, slots=True)
class Device:
    """One device as the kubelet sees it: `id` of `resource`.

    It lies on memory slices [start, start + size) of the GPU with index `gpu`; size 0 means the whole GPU.
    `replica` numbers the shares of one GPU or instance, None: a device of its own; `profile` is a MIG device's.
    """

    id: str
    resource: str
    gpu: int
    healthy: bool = True
    start: int = 0
    size: int = 0
    replica: int | None = None
    profile: str = ""

    @property
    def place(self) -> tuple[int, int]:
        """The GPU, and where on it: shares of one place are handles, each as good as another."""
        return self.gpu, self.start

    def overlaps(self, other: "Device") -> bool:
        """Whether both cannot have different owners."""
        if self.gpu != other.gpu:
            return False
        if self.replica is not None and other.replica is not None and self.place == other.place:
            return self.id == other.id
        if not self.size or not other.size:
            return True
        if "+me" in self.profile and "+me" in other.profile:
            # The JPEG and OFA engines exist once.
            return True
        return self.start < other.start + other.size and other.start < self.start + self.size


@dataclass(frozen=True, slots=True)
class Inventory:
    """The GPUs of one node and how they are advertised."""

    gpus: tuple[GPU, ...] = ()
    sharing: Sharing = Sharing()
    mig_strategy: MigStrategy = MigStrategy.NONE
    _devices: tuple[Device, ...] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Asked again and again, and never another answer.
        devices = tuple(device for gpu in self.gpus for device in _devices_of(gpu, self))
        object.__setattr__(self, "_devices", devices)
        object.__setattr__(self, "_hash", hash((self.gpus, self.sharing, self.mig_strategy)))

    def __hash__(self) -> int:
        return self._hash

    def devices(self) -> tuple[Device, ...]:
        """All devices; those of a resource by GPU index, then by place on the GPU."""
        return self._devices

    def uncut(self) -> "Inventory":
        """Without the instances of the moment where they are made on demand: what does not change from pod to pod."""
        if self.mig_strategy is not MigStrategy.DYNAMIC:
            return self
        gpus = (dataclasses.replace(gpu, mig_enabled=False, instances=()) for gpu in self.gpus)
        return dataclasses.replace(self, gpus=tuple(gpus))


def _devices_of(gpu: GPU, inventory: Inventory) -> Iterator[Device]:
    if inventory.mig_strategy is MigStrategy.DYNAMIC:
        yield from _on_demand(gpu.uuid, gpu.index, gpu.model, gpu.healthy)
    elif gpu.mig_enabled and inventory.mig_strategy is not MigStrategy.NONE:
        mixed = inventory.mig_strategy is MigStrategy.MIXED
        for instance in sorted(gpu.instances, key=lambda found: found.start):
            resource = vocabulary.mig_resource(instance.profile) if mixed else vocabulary.GPU
            place = (gpu.healthy, instance.start, instance.size, None, instance.profile)
            yield from _shares(Device(instance.uuid, resource, gpu.index, *place), inventory.sharing)
    else:
        yield from _shares(Device(gpu.uuid, vocabulary.GPU, gpu.index, gpu.healthy), inventory.sharing)


def _shares(device: Device, sharing: Sharing) -> Iterator[Device]:
    """The device itself, or what stands for it where its resource is shared."""
    shared = sharing.replicas > 1 or sharing.instances  # asked of every instance of thousands of nodes
    if not shared or (replicas := sharing.of(device.resource)) == 1:
        yield device
        return
    resource = device.resource + vocabulary.SHARED_SUFFIX * sharing.renamed
    for replica in range(replicas):
        identity = f"{device.id}::{replica}"
        place = (device.gpu, device.healthy, device.start, device.size)
        yield Device(identity, resource, *place, replica, device.profile)


# Read anew with every pod that comes or goes; bounded, because nodes do so too.
@functools.lru_cache(maxsize=16384)
def _on_demand(gpu: str, index: int, model: str, healthy: bool) -> tuple[Device, ...]:
    """The whole GPU, and each instance that it could be cut into, whatever it is cut into now."""
    board = boards.board_of(model)
    return (
        Device(gpu, vocabulary.GPU, index, healthy),
        *(
            Device(
                placement_uuid(gpu, profile.name, start),
                vocabulary.mig_resource(profile.name),
                *(index, healthy, start, size, None, profile.name),
            )
            for profile in (board.profiles if board else ())
            for start, size in profile.placements
        ),
    )
