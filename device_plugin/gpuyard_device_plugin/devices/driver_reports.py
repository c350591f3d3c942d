"""What the driver of a node reports of its GPUs, read from the node's annotations.

Stands for the driver's events (NVML). Law: what is no report is named, once, and the others count all the same.

    gpuyard.io/xid-3: "79"         GPU 3 has XID 79
    gpuyard.io/xid-all: "79"       every GPU of the node has, also one that comes later
    gpuyard.io/nvlink-0-1: down    the NVLink between GPUs 0 and 1 has failed
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from gpuyard import vocabulary
from gpuyard.hardware.gpus import GPU

T = TypeVar("T")
Pair = frozenset[int]
_HOW: Final = {
    vocabulary.XID_PREFIX: f'write {vocabulary.XID_PREFIX}0: "79" or the like',
    vocabulary.NVLINK_PREFIX: f"write {vocabulary.NVLINK_PREFIX}0-1: {vocabulary.DOWN} or the like",
}


@dataclass(frozen=True, slots=True)
class Reports:
    """`xids` by GPU index; `everywhere` is the XID of every GPU; `down` are the pairs whose link has failed."""

    xids: Mapping[int, int] = field(default_factory=dict)
    everywhere: int | None = None
    down: frozenset[Pair] = frozenset()
    nonsense: frozenset[str] = frozenset()
    """A line for each annotation that cannot be used."""

    def xid(self, index: int) -> int | None:
        """Of one GPU. What hits the whole node is worse than what a single GPU has of its own."""
        return self.xids.get(index) if self.everywhere is None else self.everywhere

    def lost(self, gpu: GPU, gpus: Collection[GPU]) -> tuple[int, ...]:
        """Which of the GPUs this one no longer reaches over NVLink."""
        linked = (other.index for other in gpus if gpu.nvlink is not None and other.nvlink == gpu.nvlink)
        return tuple(sorted(index for index in linked if {gpu.index, index} in self.down))

    def strangers(self, gpus: Collection[GPU]) -> frozenset[str]:
        """A line for each report of what is not there."""
        links = {gpu.index: gpu.nvlink for gpu in gpus}
        xids = (f"{vocabulary.XID_PREFIX}{i}: the node has no GPU {i}" for i in self.xids if i not in links)
        pairs = (sorted(pair) for pair in self.down)
        unlinked = (_no_link(a, b) for a, b in pairs if links.get(a) is None or links[a] != links.get(b))
        return frozenset((*xids, *unlinked))


def read(node: Mapping[str, Any]) -> Reports:
    """What the annotations of a Node object say."""
    notes = (node.get("metadata") or {}).get("annotations") or {}
    nonsense = set[str]()
    xids = dict(_usable(notes, vocabulary.XID_PREFIX, _xid, nonsense))
    everywhere = xids.pop(None, None)
    down = {pair for pair, _ in _usable(notes, vocabulary.NVLINK_PREFIX, _link, nonsense)}
    of_one = {index: xid for index, xid in xids.items() if index is not None}
    return Reports(of_one, everywhere, frozenset(down), frozenset(nonsense))


def number(text: object) -> int:
    """An XID or an index. ValueError for anything else."""
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 6):
        raise ValueError(f"{text!r} is no XID")
    return int(text)


def _usable(
    notes: Mapping[str, Any], prefix: str, parse: Callable[[str, object], T], nonsense: set[str]
) -> Iterator[T]:
    for key, text in notes.items():
        if not key.startswith(prefix):
            continue
        try:
            yield parse(key.removeprefix(prefix), text)
        except ValueError:
            nonsense.add(f"{key}: {text!r} is ignored; {_HOW[prefix]}")


def _xid(of: str, text: object) -> tuple[int | None, int]:
    """None: of every GPU."""
    return (None if of == vocabulary.EVERY_GPU else number(of)), number(text)


def _link(between: str, text: object) -> tuple[Pair, None]:
    pair = frozenset(number(end) for end in between.split("-"))
    if len(pair) != 2 or between.count("-") != 1 or text != vocabulary.DOWN:
        raise ValueError(between)
    return pair, None


def _no_link(first: int, second: int) -> str:
    key = f"{vocabulary.NVLINK_PREFIX}{first}-{second}"
    return f"{key}: the node has no NVLink between GPU {first} and GPU {second}"
