"""The table of GPUs that a fake container prints: what a program in it would find.

Stands for `nvidia-smi` in the container. The kubelet knows no GPU, so the table is made here, from the variable
that the device plugin set. GPUs are numbered anew in each container, as the NVIDIA runtime does.
"""

from collections.abc import Mapping, Sequence

from gpuyard.gpus import GPU, Instance
from gpuyard.yard import YardNode
from gpuyard_cluster.kubelet.containers import Screen

_VISIBLE = "NVIDIA_VISIBLE_DEVICES"
_HEAD = ("GPU", "MODEL", "MEMORY", "UUID")
_Row = tuple[str, str, str]


def of(node: YardNode) -> Screen:
    """The screen of a container on that node."""
    rows = {name: row for gpu in node.gpus for name, row in _rows(gpu)}

    def screen(environment: Mapping[str, str]) -> Sequence[str]:
        named = environment.get(_VISIBLE, "").split(",")
        seen = [rows[name] for name in named if name in rows]
        return _table([_HEAD, *((str(number), *row) for number, row in enumerate(seen))]) if seen else ()

    return screen


def _rows(gpu: GPU) -> list[tuple[str, _Row]]:
    """Each name that the plugin may give a device of this GPU (uuid, or index), and its row."""
    whole = (gpu.model, f"{gpu.memory_mib} MiB", gpu.uuid)
    found = [(gpu.uuid, whole), (str(gpu.index), whole)]
    for number, instance in enumerate(gpu.instances):
        row = _instance_row(gpu, instance)
        found += [(instance.uuid, row), (f"{gpu.index}:{number}", row)]
    return found


def _instance_row(gpu: GPU, instance: Instance) -> _Row:
    return f"{gpu.model} MIG {instance.profile}", instance.profile.partition(".")[2], instance.uuid


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
