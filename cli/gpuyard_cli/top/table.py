"""The rows of `gpuyard top` as lines of text.

Law: never more lines than `height` nor longer ones than `width`, and no sign in them that a terminal would obey. All
GPUs are shown where they fit, else a line for each node, else one for all nodes that look alike, as many as fit.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gpuyard.narration import few
from gpuyard_cli.top.rows import CountRow, GpuRow, NodeRow, Owner, View

FREE, PART, TAKEN, SICK = ".", "+", "#", "X"
_LEGEND: Final = f"{FREE} free  {PART} in part  {TAKEN} taken  {SICK} unhealthy"
_HEADS: Final = ("GPU", "NUMA", "NVLINK", "HEALTH", "FREE", "SLICES", "OWNER")
_SPARED: Final = ("NVLINK", "NUMA", "SLICES")
"""What is left out first where the terminal is narrow."""
_OWNER_WIDTH: Final = 24
_MOST_TILES: Final = 32
_MOST_OWNERS: Final = 4

Cells = tuple[str, ...]


def lines(found: View, width: int | None = None, height: int | None = None, foot: str = "") -> list[str]:
    """The table; None: as wide or high as it needs. `foot` stands under it, where there is room."""
    most = None if height is None else max(1, height - bool(foot))
    body = [_headline(found), *_body(found, width, most)]
    if most is not None and len(body) > most:
        left = len(body) - most + 1
        body = [*body[: most - 1], f"and {left} more lines: --node NAME shows one node"]
    foots = [foot] if foot and (height is None or height > 1) else []
    return [_cut(line, width) for line in (*body, *foots)]


def _body(found: View, width: int | None, most: int | None) -> list[str]:
    nodes = found.nodes
    # Counted before they are made: of a thousand nodes that takes a second.
    every = 2 + sum(1 + len(node.gpus) + len(node.counts) + len(node.strays) for node in nodes)
    if most is None or every <= most or len(nodes) == 1:
        return _every_gpu(nodes, width)
    if len(nodes) + 3 <= most:
        return _grouped(nodes, lambda node: (node.name,))
    return _grouped(nodes, lambda node: (_models(node), _tiles(node), *node.marks))


def _headline(found: View) -> str:
    tiles = Counter(_tile(row) for node in found.nodes for row in node.gpus)
    states = ((FREE, "free"), (PART, "in part"), (TAKEN, "taken"), (SICK, "unhealthy"))
    said = ", ".join(f"{tiles[tile]} {name}" for tile, name in states if tiles[tile])
    gpus = sum(len(node.gpus) for node in found.nodes)
    counted = sum(count.total for node in found.nodes for count in node.counts)
    return "; ".join(
        filter(
            None,
            (
                f"{_many(len(found.nodes), 'node')}, {_many(gpus, 'GPU')}{f': {said}' if gpus else ''}",
                f"{_many(counted, 'device')} known by count" if counted else "",
                f"{_many(found.waiting, 'pod')} without a node" if found.waiting else "",
                f"{_many(found.unreadable, 'object')} that cannot be read" if found.unreadable else "",
            ),
        )
    )


def _every_gpu(nodes: Sequence[NodeRow], width: int | None) -> list[str]:
    tables = [[*map(_gpu_cells, node.gpus), *map(_count_cells, node.counts)] for node in nodes]
    shown = _shown([_HEADS, *(cells for table in tables for cells in table)], width)
    aligned = (f"  {line}" for line in _aligned(shown))
    found = [next(aligned)] if any(tables) else []
    for node, table in zip(nodes, tables, strict=True):
        found.append(_node_line(node))
        found += [next(aligned) for _ in table]
        found += [f"  on no GPU that is known: {_owner(stray)}" for stray in node.strays]
    return found


def _shown(rows: list[Cells], width: int | None) -> list[Cells]:
    """Without columns in which there is nothing, nor those that would leave no room for owners."""
    columns = [i for i, _ in enumerate(_HEADS) if any(row[i] for row in rows[1:])]
    for spared in map(_HEADS.index, _SPARED):
        taken = 2 + sum(2 + max(len(row[i]) for row in rows) for i in columns[:-1])
        if width is not None and taken + _OWNER_WIDTH > width and spared in columns:
            columns.remove(spared)
    return [tuple(row[i] for i in columns) for row in rows]


def _gpu_cells(row: GpuRow) -> Cells:
    gpu, xid = row.gpu, "" if row.xid is None else f"XID {row.xid}"
    linked = "" if gpu.nvlink is None else str(gpu.nvlink)
    lost = f" not {','.join(map(str, gpu.lost_links))}" if gpu.lost_links else ""
    health = (f"ok, {xid}" if xid else "ok") if gpu.healthy else xid or "unhealthy"
    free = f"{row.free}/{row.total}"
    return (str(gpu.index), str(gpu.numa), linked + lost, health, free, row.slices, _owners(row.owners))


def _count_cells(row: CountRow) -> Cells:
    health, free = f"{row.sick} unhealthy" if row.sick else "ok", f"{row.free}/{row.total}"
    owners = f"{_plain(row.resource)}: {_owners(row.owners)}"
    return ("any", "", "", health, free, "", owners)


def _node_line(node: NodeRow) -> str:
    return ", ".join(filter(None, (f"{_plain(node.name)}: {_models(node)}", *map(_plain, node.marks))))


def _grouped(nodes: Sequence[NodeRow], alike: Callable[[NodeRow], Cells]) -> list[str]:
    groups: dict[Cells, list[NodeRow]] = {}
    for node in nodes:
        groups.setdefault(alike(node), []).append(node)
    rows: list[Cells] = [("NODES", "STATE", "GPUS", "OWNERS")]
    rows += (_group_cells(group) for group in groups.values())
    return [*_aligned(rows), _LEGEND]


def _group_cells(group: Sequence[NodeRow]) -> Cells:
    first, last = _plain(group[0].name), _plain(group[-1].name)
    names = first if len(group) == 1 else f"{len(group)}: {first} to {last}"
    owned = [row.owners for node in group for row in node.gpus]
    owned += [row.owners for node in group for row in node.counts]
    pods = dict.fromkeys(owner.pod for owners in owned for owner in owners)
    marks = "".join(f", {_plain(mark)}" for mark in group[0].marks)
    return (
        names,
        _tiles(group[0]),
        _models(group[0]) + marks,
        few([_plain(pod) for pod in pods], _MOST_OWNERS),
    )


def _tiles(node: NodeRow) -> str:
    """A sign for each GPU, or for each device where they are only counted, if these are few."""
    tiles = "".join(map(_tile, node.gpus))
    for count in node.counts:
        taken = count.total - count.sick - count.free
        signs = ((TAKEN, taken), (FREE, count.free), (SICK, count.sick))
        few = count.total <= _MOST_TILES
        tiles += "".join(sign * n for sign, n in signs) if few else f" {count.free}/{count.total}"
    return tiles if len(tiles) <= _MOST_TILES else f"{tiles[:_MOST_TILES]}…"


def _tile(row: GpuRow) -> str:
    if not row.gpu.healthy:
        return SICK
    return FREE if not row.owners else PART if row.free else TAKEN


def _models(node: NodeRow) -> str:
    models = Counter(_plain(row.gpu.model) for row in node.gpus)
    named = (f"{count} x {model}" for model, count in models.items())
    counted = (f"{row.total} {_plain(row.resource)}" for row in node.counts)
    return ", ".join((*named, *counted)) or "no GPUs"


def _owners(owners: Sequence[Owner]) -> str:
    more = f"{len(owners)} pods: " if len(owners) > _MOST_OWNERS else ""
    return more + (few([_owner(owner) for owner in owners], _MOST_OWNERS) or "-")


def _owner(owner: Owner) -> str:
    count = f"{owner.count} x" if owner.count > 1 else ""
    said = " ".join(filter(None, (count, _plain(owner.kind), "planned" if owner.planned else "")))
    return f"{_plain(owner.pod)} ({said})" if said else _plain(owner.pod)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _aligned(rows: Sequence[Cells]) -> Iterator[str]:
    """Numbers and words alike to the left; the last column has no end."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join((*(c.ljust(w) for c, w in zip(row[:-1], widths, strict=False)), row[-1])).rstrip()


def _plain(text: str) -> str:
    """Each sign as wide as another, none of which a terminal obeys."""
    return "".join(sign if sign.isascii() and sign.isprintable() else "?" for sign in text)


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else line[: max(0, width - 1)] + "…" * (width > 0)
