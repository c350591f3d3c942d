"""A recording as files that `gpuyard replay` reads: the openb columns, then ours (`gpuyard_replay.columns`).

Law: whatever was recorded, both files can be read again: amounts that no trace can have are cut to what it can.
"""

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gpuyard.hardware import models
from gpuyard.hardware.boards import plain_product
from gpuyard.hardware.gpus import GPU, WHOLE
from gpuyard.pods.limits import Limits
from gpuyard_cli.capture import nodes as capture_nodes
from gpuyard_cli.capture.nodes import NodeRecord
from gpuyard_cli.capture.pods import PodRecord
from gpuyard_cli.capture.recording import Recording

_POD_COLUMNS: Final = (
    "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time",
    "deletion_time", "scheduled_time", "mig_profile", "gang", "queue", "priority",
)  # fmt: skip
_NODE_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_MOST: Final = 10**12 - 1
_MOST_GPUS: Final = 128

Names = Callable[[str], str]
"""What stands for a name in the files."""


def hashed(key: bytes) -> Names:
    """Equal names stay equal. Without the key nobody can try names out: it must be drawn, and thrown away."""
    return lambda name: hashlib.blake2b(name.encode(), key=key, digest_size=8).hexdigest() if name else ""


def nodes_csv(recording: Recording, names: Names) -> str:
    """The node file: every node that was ever there."""
    rows = (
        (names(node.name), _cut(node.cpu), _cut(node.memory), min(node.gpus, _MOST_GPUS), node.model)
        for _, node in sorted(recording.nodes.items())
    )
    return _csv(_NODE_COLUMNS, rows)


def pods_csv(recording: Recording, until: int, names: Names) -> str:
    """The pod file. Seconds count from the first pod; who is still there has the end of the recording as its own."""
    pods = sorted(recording.pods.values(), key=lambda pod: (pod.created, pod.namespace, pod.name))
    first, seen = (pods[0].created if pods else 0), Counter[str]()
    rows = []
    for pod, gang in zip(pods, _gangs(pods), strict=True):
        whole = f"{pod.namespace}/{pod.name}"
        seen[whole] += 1
        name = names(whole) + (f"~{seen[whole]}" if seen[whole] > 1 else "")
        rows.append(
            [name, *_asked(pod, recording.nodes), *_life(pod, first, until), *_belongs(pod, gang, names)]
        )
    return _csv(_POD_COLUMNS, rows)


def _asked(pod: PodRecord, nodes: Mapping[str, NodeRecord]) -> list[object]:
    """A trace has one kind of device a pod: of several the largest stands for all."""
    node = nodes.get(pod.node) or _alike(pod, nodes.values())
    largest = max(pod.devices, key=lambda name: (capture_nodes.part(name, node), name), default="")
    count = min(sum(pod.devices.values()), _MOST)
    milli = capture_nodes.part(largest, node) if count else 0
    if pod.wishes.limits:
        milli = _limited(pod.wishes.limits, node, milli)
    return [_cut(pod.cpu), _cut(pod.memory), count, milli, "|".join(_models(pod, nodes.values()))]


def _limited(limited: Limits, node: NodeRecord | None, otherwise: int) -> int:
    """The thousandths of a share of which its pod says how much it may use."""
    model = models.model_of(node.model) if node else None
    if model is None:
        return limited.milli or otherwise
    # Who asks for more than there is on a GPU waits, and does so in a replay.
    return min(limited.on(GPU(0, "", model.name, model.memory_mib)).milli, WHOLE)


def _alike(pod: PodRecord, nodes: Iterable[NodeRecord]) -> NodeRecord | None:
    """For a pod that is on no node, one that has all that it asks for."""
    return next((node for node in nodes if pod.devices.keys() <= node.parts.keys()), None)


def _models(pod: PodRecord, nodes: Iterable[NodeRecord]) -> Sequence[str]:
    """Those that it may run on; none where any will do. One that no node has stands for itself."""
    product = plain_product(pod.product)
    if not pod.devices or not (product or pod.wishes.models):
        return ()
    there = {node.model for node in nodes if node.gpus}
    wanted = sorted(name for name in there if pod.wishes.likes(name) and product in ("", name))
    return wanted or [product or "|".join(pod.wishes.models)]


def _life(pod: PodRecord, first: int, until: int) -> list[object]:
    # Clocks of nodes and of the API server may differ by a second or two.
    started = pod.created if pod.scheduled is None else pod.scheduled
    last = until if pod.ended is None else pod.ended
    ended = "" if pod.gone and pod.ended is None else max(started, last) - first
    scheduled = "" if pod.scheduled is None else pod.scheduled - first
    return [pod.qos, pod.phase, pod.created - first, ended, scheduled]


def _gangs(pods: Iterable[PodRecord]) -> Iterator[tuple[str, int]]:
    """The gang of each pod, and its number among those of that name: a new one begins when all pods have ended."""
    number, ends = Counter[str](), dict[str, float]()
    for pod in pods:
        gang = f"{pod.namespace}/{pod.gang}" if pod.gang else ""
        number[gang] += pod.created >= ends.get(gang, 0)
        ends[gang] = max(ends.get(gang, 0), math.inf if pod.ended is None else pod.ended)
        yield gang, number[gang]


def _belongs(pod: PodRecord, gang: tuple[str, int], names: Names) -> list[object]:
    [resource, *others] = pod.devices or [""]
    single = not others and pod.devices.get(resource) == 1
    profile = capture_nodes.profile(resource) if single else ""
    group, number = gang
    again = f"~{number}" if group and number > 1 else ""
    return [profile, names(group) + again, names(pod.namespace), max(-(10**9), min(pod.priority, 2 * 10**9))]


def _cut(amount: int) -> int:
    return max(0, min(amount, _MOST))


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([map(_plain, row) for row in rows])
    return text.getvalue()


def _plain(cell: object) -> str:
    """One line, in characters that every encoding has."""
    return "".join(letter if letter.isprintable() else " " for letter in str(cell))
