"""What `gpuyard top -o json` says: the rows as they are, for programs."""

from collections.abc import Iterable
from typing import Any

from gpuyard_cli.top.rows import CountRow, GpuRow, NodeRow, Owner, View


def to_json(found: View) -> dict[str, Any]:
    """One object; `waiting` and `unreadable` are counts."""
    nodes = [_node(row) for row in found.nodes]
    return {"nodes": nodes, "waiting": found.waiting, "unreadable": found.unreadable}


def _node(row: NodeRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "marks": list(row.marks),
        "inventorySince": row.since,
        "gpus": [_gpu(gpu) for gpu in row.gpus],
        "counts": [_count(count) for count in row.counts],
        "strays": _owners(row.strays),
    }


def _gpu(row: GpuRow) -> dict[str, Any]:
    gpu = row.gpu
    return {
        "index": gpu.index,
        "uuid": gpu.uuid,
        "model": gpu.model,
        "memoryMiB": gpu.memory_mib,
        "numa": gpu.numa,
        "switch": gpu.switch,
        "nvlink": gpu.nvlink,
        "lostLinks": list(gpu.lost_links),
        "healthy": gpu.healthy,
        "xid": row.xid,
        "free": row.free,
        "total": row.total,
        "leftMilli": row.left.milli,
        "leftMemoryMiB": row.left.mib,
        "slices": row.slices,
        "owners": _owners(row.owners),
    }


def _count(row: CountRow) -> dict[str, Any]:
    counts = {"free": row.free, "total": row.total, "unhealthy": row.sick}
    return {"resource": row.resource, **counts, "owners": _owners(row.owners)}


def _owners(owners: Iterable[Owner]) -> list[dict[str, Any]]:
    return [{"pod": o.pod, "kind": o.kind, "count": o.count, "planned": o.planned} for o in owners]
