"""The GPUs of an existing node, from what its labels and counts say.

Reads what gpu-feature-discovery and the device plugin of NVIDIA write (`gpuyard_device_plugin.publishing.gfd` has the
rules). Where the node has our own inventory, everything is known.

| strategy | nvidia.com/gpu counts | so the physical GPUs are |
|---|---|---|
| none | GPUs, or shares of them | its count, through the replicas |
| single | MIG devices | as few as can hold them |
| mixed | whole GPUs | those, and as many split ones as gpu.count says beyond them |
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.hardware import models
from gpuyard.hardware.gpus import GPU, gpu_uuid
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.hardware.presets import presets
from gpuyard.pods import quantities
from gpuyard.writes import JSON
from gpuyard.yard import parse
from gpuyard.yard_gpus import MOST_GPUS
from gpuyard_cli.imported import layouts
from gpuyard_cli.imported.notes import Notes

Counts = Mapping[str, int]

_UNKNOWN_PRODUCT = "Unknown-GPU"
_PLACES = "where GPUs hang (NUMA, PCIe, NVLink) is in no label"


@dataclass(frozen=True, slots=True)
class _Labels:
    """nvidia.com/* of a node, without the prefix."""

    found: Mapping[str, str]

    def text(self, key: str) -> str:
        return self.found.get(f"nvidia.com/{key}", "")

    def number(self, key: str) -> int:
        text = self.text(key)
        return int(text) if text.isdecimal() else 0


def inventory_of(node: JSON, notes: Notes) -> Inventory:
    """The GPUs of the node and how they are advertised."""
    metadata, status = node["metadata"], node.get("status") or {}
    known = annotations.read_inventory((metadata.get("annotations") or {}).get(vocabulary.INVENTORY))
    if known is not None:
        # Instances that were made on demand come back with their pods.
        return known.uncut()
    capacity, allocatable = _counts(status, "capacity"), _counts(status, "allocatable")
    if not any(capacity.values()):
        return Inventory()
    found = _read(metadata["name"], _Labels(metadata.get("labels") or {}), capacity, notes)
    return _with_health(found, metadata["name"], allocatable, notes)


def _read(name: str, labels: _Labels, capacity: Counts, notes: Notes) -> Inventory:
    strategy, sharing = _strategy(labels, capacity), _sharing(labels, capacity)
    base, _, profile = labels.text("gpu.product").removesuffix("-SHARED").partition("-MIG-")
    if not base:
        notes.add("no label nvidia.com/gpu.product: GPUs are counted, their model is unknown", name)
    model = models.model_of(base)
    whole = 0 if profile else _whole(capacity, sharing)
    wanted = layouts.wanted(base, profile, capacity)
    # With strategy single the label counts MIG devices.
    split = (
        layouts.spread(base, wanted, 0 if profile else labels.number("gpu.count") - whole) if wanted else []
    )
    if wanted and not split:
        notes.add("MIG instances that no known board can hold are left out", name)
    elif wanted:
        notes.add("which GPU holds which MIG instance is in no label: spread evenly", name)
    if sharing.mode is not SharingMode.NONE:
        notes.add("failRequestsGreaterThanOne is in no label: NVIDIA's default holds", name)
    if whole + len(split) > MOST_GPUS:
        raise ValueError(f"status.capacity: {whole + len(split)} GPUs, where a node has {MOST_GPUS} at most")
    memory = labels.number("gpu.memory") if not profile else 0
    blank = GPU(0, "", base or _UNKNOWN_PRODUCT, memory or (model.memory_mib if model else 0))
    gpus = [replace(blank, index=i, uuid=gpu_uuid(name, i)) for i in range(whole + len(split))]
    placed = _places(name, gpus, notes)
    halves = [layouts.divided(gpu, profiles) for gpu, profiles in zip(placed[whole:], split, strict=True)]
    return Inventory((*placed[:whole], *halves), sharing, strategy)


def _strategy(labels: _Labels, capacity: Counts) -> MigStrategy:
    if any(count for resource, count in capacity.items() if resource.startswith(vocabulary.MIG_PREFIX)):
        return MigStrategy.MIXED
    said = labels.text("mig.strategy")
    return MigStrategy(said) if said in list(MigStrategy) else MigStrategy.NONE


def _sharing(labels: _Labels, capacity: Counts) -> Sharing:
    said, replicas = labels.text("gpu.sharing-strategy"), labels.number("gpu.replicas")
    if said not in list(SharingMode) or said == SharingMode.NONE or replicas < 2:
        return Sharing()
    return Sharing(SharingMode(said), replicas, renamed=bool(capacity.get(vocabulary.GPU_SHARED)))


def _whole(capacity: Counts, sharing: Sharing) -> int:
    resource = vocabulary.GPU_SHARED if sharing.renamed else vocabulary.GPU
    return capacity.get(resource, 0) // sharing.replicas


def _places(name: str, gpus: list[GPU], notes: Notes) -> list[GPU]:
    """The GPUs, hung up as in the preset with as many of this model; one beside the other where there is none."""
    for preset in presets().values():
        alike = parse({"nodes": [{"name": "alike", "preset": preset.name}]})[0].gpus
        if [gpu.model for gpu in alike] == [gpu.model for gpu in gpus]:
            notes.add(f"{_PLACES}: assumed as in {preset.name}", name)
            pairs = zip(gpus, alike, strict=True)
            return [replace(gpu, numa=at.numa, switch=at.switch, nvlink=at.nvlink) for gpu, at in pairs]
    if len(gpus) > 1:
        notes.add(f"{_PLACES}: assumed to be all on one switch", name)
    return gpus


def _with_health(inventory: Inventory, name: str, allocatable: Counts, notes: Notes) -> Inventory:
    """As many whole GPUs unhealthy as are missing in allocatable."""
    resource = vocabulary.GPU_SHARED if inventory.sharing.renamed else vocabulary.GPU
    whole = [gpu for gpu in inventory.gpus if not gpu.mig_enabled]
    sick = len(whole) - allocatable.get(resource, 0) // inventory.sharing.replicas
    if not whole or sick <= 0:
        return inventory
    notes.add("which GPUs are unhealthy is in no label: assumed to be the last ones", name)
    ill = {gpu.index for gpu in whole[-sick:]}
    gpus = tuple(replace(gpu, healthy=gpu.index not in ill) for gpu in inventory.gpus)
    return replace(inventory, gpus=gpus)


def plugin_config(inventory: Inventory) -> JSON:
    """NVIDIA's configuration file that makes a plugin advertise the inventory."""
    config: JSON = {"version": "v1", "flags": {"migStrategy": inventory.mig_strategy.value}}
    sharing = inventory.sharing
    if sharing.mode is SharingMode.NONE:
        return config
    key = "mps" if sharing.mode is SharingMode.MPS else "timeSlicing"
    counts = ((vocabulary.GPU, sharing.replicas), *sharing.instances)
    shared = [{"name": name, "replicas": replicas} for name, replicas in counts if replicas > 1]
    return {**config, "sharing": {key: {"renameByDefault": sharing.renamed, "resources": shared}}}


def _counts(status: JSON, field: str) -> dict[str, int]:
    """Those of NVIDIA's resources. ValueError for more than a node can have."""
    amounts: Mapping[str, Any] = status.get(field) or {}
    ours = {key: value for key, value in amounts.items() if key.startswith("nvidia.com/")}
    found = {resource: quantities.whole(amount) for resource, amount in ours.items()}
    for resource, count in found.items():
        if count > annotations.MOST_DEVICES:
            raise ValueError(
                f"status.{field}: {count} {resource}, where a node has {annotations.MOST_DEVICES} at most"
            )
    return found
