"""Reading nodes, pods and arrival orders: the columns of Alibaba's cluster-trace-gpu-v2023 ("openb").

Law: what cannot be read is one InvalidTraceError that names file, line and remedy.
"""

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from gpuyard.policies.workload import WHOLE
from gpuyard_replay.columns import ALONE, Lifetime, Membership, amount, lifetime, membership

_Row = dict[str, str]
_Value = TypeVar("_Value")

_MOST_GPUS: Final = 128


class InvalidTraceError(Exception):
    """A file of a trace cannot be used: where, why, and what to do."""

    def __init__(self, place: object, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}")
        self.place, self.problem, self.remedy = str(place), problem, remedy

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """It comes from other processes, too."""
        return type(self), (self.place, self.problem, self.remedy)


@dataclass(frozen=True, slots=True)
class TraceNode:
    """One node; memory in MiB."""

    name: str
    cpu: int
    memory: int
    gpus: int
    model: str


@dataclass(frozen=True, slots=True)
class TracePod:
    """One pod: `count` GPUs, `milli` thousandths of each; on one of `models`, or on any where there are none."""

    name: str
    cpu: int
    memory: int
    count: int
    milli: int
    models: tuple[str, ...] = ()
    profile: str = ""
    """The MIG instance that it asks for; `milli` says how large that is."""
    lifetime: Lifetime | None = None
    membership: Membership = ALONE

    @property
    def gpu_milli(self) -> int:
        return self.count * self.milli

    @property
    def demand(self) -> Hashable:
        """Pods with equal demands fit the same nodes."""
        return self.cpu, self.memory, self.count, self.milli, self.models, self.profile


@dataclass(frozen=True, slots=True)
class Order:
    """Pods in the order in which they come, and each node's rank: of equally good nodes the lowest is taken."""

    pods: tuple[str, ...]
    ranks: dict[str, int]


def read_nodes(path: Path) -> tuple[TraceNode, ...]:
    """The nodes with GPUs, by name."""
    found = _read(path, _node, ("sn", "cpu_milli", "memory_mib", "gpu", "model"))
    nodes = tuple(sorted((node for node in found if node.gpus), key=lambda node: node.name))
    if not nodes:
        raise InvalidTraceError(path, "no node has a GPU", "name another file with --nodes")
    return nodes


def read_pods(path: Path) -> tuple[TracePod, ...]:
    """The pods, by name."""
    found = _read(path, _pod, ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"))
    pods = tuple(sorted(found, key=lambda pod: pod.name))
    if not any(pod.gpu_milli for pod in pods):
        raise InvalidTraceError(
            path, "no pod asks for a GPU", "name a file such as openb_pod_list_default.csv"
        )
    return pods


def read_order(path: Path) -> Order:
    """Lines `N,node,rank`, then `P,pod`."""
    pods, ranks = [], {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        match line.split(","):
            case ["P", name]:
                pods.append(name)
            case ["N", name, _] if name in ranks:
                problem = f"the node {name} stands twice"
                raise InvalidTraceError(f"{path}:{number}", problem, "leave out one of its lines")
            case ["N", name, rank] if rank.isdecimal():
                ranks[name] = int(rank)
            case _:
                place, problem = f"{path}:{number}", f"{line[:40]!r} is no line of an order"
                raise InvalidTraceError(place, problem, "write N,NODE,RANK or P,POD")
    return Order(tuple(pods), ranks)


def _node(row: _Row) -> TraceNode:
    cpu, memory, gpus = (amount(row, key) for key in ("cpu_milli", "memory_mib", "gpu"))
    if gpus > _MOST_GPUS:
        raise ValueError(f"gpu is {gpus}, but a node has at most {_MOST_GPUS}")
    return TraceNode(row["sn"], cpu, memory, gpus, row["model"])


def _pod(row: _Row) -> TracePod:
    cpu, memory, count = (amount(row, key) for key in ("cpu_milli", "memory_mib", "num_gpu"))
    milli = amount(row, "gpu_milli") if count else 0
    if count and not 0 < milli <= WHOLE:
        raise ValueError(f"gpu_milli is {milli}, but a GPU has 1 to {WHOLE} thousandths")
    models = tuple((row.get("gpu_spec") or "").split("|")) if row.get("gpu_spec") else ()
    profile = row.get("mig_profile") or ""
    if profile and count != 1:
        raise ValueError(f"num_gpu is {count}, but an instance {profile[:40]} is a part of 1 GPU")
    return TracePod(row["name"], cpu, memory, count, milli, models, profile, lifetime(row), membership(row))


def _read(path: Path, convert: Callable[[_Row], _Value], columns: tuple[str, ...]) -> Iterator[_Value]:
    reader = csv.DictReader(_text(path).splitlines(), restval="")
    try:
        given = reader.fieldnames or ()
        if twice := [column for column, times in Counter(given).items() if column and times > 1]:
            raise InvalidTraceError(f"{path}:1", f"the column {twice[0]} stands twice", "leave out one")
        missing = [column for column in columns if column not in given]
        if missing:
            raise InvalidTraceError(path, f"no column {missing[0]}", f"it needs {','.join(columns)}")
        for row in reader:
            yield convert(row)
    except (ValueError, csv.Error) as error:
        place = f"{path}:{reader.line_num}"
        raise InvalidTraceError(place, str(error), "mend or leave out this line") from error


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidTraceError(path, f"cannot be read: {error}", "name a file that can") from error
