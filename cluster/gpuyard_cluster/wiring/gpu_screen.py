"""What a fake container prints of its GPUs: what `nvidia-smi -L` in it would.

Stands for the script that the device plugin mounts into real containers. The kubelet knows no GPU, so the listing is
made here, from the same variables; GPUs are numbered anew in each container, as NVIDIA's runtime does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_GPU: Final = re.compile(r"GPUYARD_GPU_(\d+)")


def listing(environment: Mapping[str, str]) -> Sequence[str]:
    """The screen of a container with that environment; nothing where it was given no GPU."""
    found = sorted(int(match[1]) for name in environment if (match := _GPU.fullmatch(name)))
    return [line for number, index in enumerate(found) for line in _lines(environment, number, index)]


def _lines(environment: Mapping[str, str], number: int, index: int) -> Iterator[str]:
    uuid, name, *_ = [*environment[f"GPUYARD_GPU_{index}"].split("|"), ""]
    yield f"GPU {number}: {name} (UUID: {uuid})"
    instance = re.compile(rf"GPUYARD_MIG_{index}_(\d+)")
    found = sorted((int(match[1]), key) for key in environment if (match := instance.fullmatch(key)))
    for device, (_, key) in enumerate(found):
        profile, uuid, *_ = [*environment[key].split("|"), ""]
        yield f"  MIG {profile:<11} Device {device:2}: (UUID: {uuid})"
