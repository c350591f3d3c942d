"""How much of its GPU's memory a device has."""

from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Device, Sharing
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits


def memory(gpu: GPU, device: Device, sharing: Sharing, limited: Limits = limits.NONE) -> int:
    """What a device has of its GPU's memory, where its pod is `limited`."""
    if limited and device.replica is not None and not device.size:
        return limited.on(gpu).mib
    shares = 1 if device.replica is None else sharing.of(device.resource)
    board = mig.board_of(gpu.model)
    if not device.size or board is None:
        return gpu.memory_mib // shares
    return gpu.memory_mib * device.size // board.memory_slices // shares
