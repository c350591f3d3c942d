"""What `nvidia-smi` shows in a container: the script, and the variables that it reads.

Stands for the tools that NVIDIA's container runtime mounts from the driver. Law: the script is fixed, each grant
comes as variables; two grants to one container are about different devices, or say the same. As in `dcgm`, who holds
a part of a GPU is taken to use all of it.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from gpuyard import vocabulary
from gpuyard.hardware import mig, models
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Device, Inventory, Sharing
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard_device_plugin.containers.grants import Grant
from gpuyard_device_plugin.devices.device_memory import memory

PROGRAM: Final = "/usr/bin/nvidia-smi"
"""Where NVIDIA's runtime puts it in a container."""


def with_smi(grant: Grant, shown: Mapping[str, str], script: Path | None) -> Grant:
    """The grant, with the script and the variables that it reads; without the script where there is none."""
    envs = {**grant.envs, **shown}
    mounts = grant.mounts if script is None else {**grant.mounts, PROGRAM: str(script)}
    return dataclasses.replace(grant, envs=envs, mounts=mounts)


def variables(
    inventory: Inventory, devices: Sequence[Device], limited: Limits = limits.NONE
) -> dict[str, str]:
    """The environment from which the script tells of these devices, to a pod that is `limited`."""
    found: dict[str, str] = {}
    for gpu in inventory.gpus:
        held = [device for device in devices if device.gpu == gpu.index]
        whole = [device for device in held if not device.size]
        if held:
            used = sum(memory(gpu, device, inventory.sharing, limited) for device in whole)
            is_split = gpu.mig_enabled or len(whole) < len(held)
            found[f"{vocabulary.SMI_VARIABLES}GPU_{gpu.index}"] = _gpu(gpu, used, is_split=is_split)
        for device in held:
            if device.size:
                key = f"{vocabulary.SMI_VARIABLES}MIG_{gpu.index}_{device.start}"
                found[key] = _instance(gpu, device, inventory.sharing)
    return found


def install(folder: Path) -> Path:
    """Put the script into a folder of the host, for containers to mount. OSError when that cannot be."""
    text = resources.files("gpuyard_device_plugin.containers").joinpath("nvidia-smi.sh").read_text("utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "nvidia-smi"
    # Never written in place: a container may run it.
    temporary = folder / f".nvidia-smi.{os.getpid()}"
    temporary.write_text(text)
    temporary.chmod(0o755)
    temporary.rename(path)
    return path


def _gpu(gpu: GPU, used: int, *, is_split: bool) -> str:
    model = models.model_of(gpu.model)
    name = gpu.model if model is None else model.name
    share, mode = str(used * 100 // gpu.memory_mib), "Disabled"
    if is_split:
        share, mode = "[N/A]", "Enabled"
    return f"{gpu.uuid}|{name}|{gpu.memory_mib}|{used}|{share}|{mode}|"


def _instance(gpu: GPU, device: Device, sharing: Sharing) -> str:
    board = mig.board_of(gpu.model)
    profile = None if board is None else board.profile(device.profile)
    known = 0 if profile is None else profile.id
    number = 0 if board is None else mig.instance_id(board, device.start, device.size)
    place = f"{device.start}:{device.size}"
    used = memory(gpu, device, sharing)
    return f"{device.profile}|{device.id.partition('::')[0]}|{used}|{known}|{number}|{place}|"
