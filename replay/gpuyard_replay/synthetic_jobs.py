"""Two small traces with times of our own: gangs in queues, and MIG instances that come and go.

Made up: sizes and proportions are chosen so that disciplines and rules differ, not taken from a cluster.
`replay/traces/jobs` and `replay/traces/mig` are what `python -m gpuyard_replay.synthetic_jobs FOLDER` writes.
"""

import itertools
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gpuyard_replay.jobs import Durations

_SEED: Final = 1
_HEAD: Final = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,mig_profile,gang,queue,priority,"
    "creation_time,scheduled_time,deletion_time"
)


class Kind(NamedTuple):
    """Jobs of so many pods with so many GPUs each; a MIG instance is a part of one."""

    weight: int
    pods: int
    gpus: int
    milli: int
    runs: Durations
    queue: str = "research"
    priority: int = 0
    profile: str = ""


_SHORT: Final = Durations(900, 7_200)
_LONG: Final = Durations(5_400, 21_600)
_JOBS: Final = (
    Kind(20, 1, 1, 500, _SHORT),
    Kind(30, 1, 1, 1000, _SHORT),
    Kind(15, 1, 4, 1000, _SHORT),
    Kind(10, 4, 2, 1000, _LONG),
    Kind(10, 2, 8, 1000, _LONG, "training"),
    Kind(5, 6, 8, 1000, _LONG, "training"),
    Kind(10, 1, 2, 1000, _SHORT, "production", 10),
)
_INSTANCES: Final = (
    Kind(45, 1, 1, 125, _SHORT, profile="1g.5gb"),
    Kind(20, 1, 1, 250, _SHORT, profile="2g.10gb"),
    Kind(15, 1, 1, 500, _SHORT, profile="3g.20gb"),
    Kind(10, 1, 1, 500, _SHORT, profile="4g.20gb"),
    Kind(10, 1, 1, 1000, _SHORT, profile="7g.40gb"),
)


def nodes(count: int, gpus: int, model: str) -> str:
    """A node file."""
    lines = (f"node-{number:02},128000,524288,{gpus},{model}" for number in range(count))
    return "\n".join(["sn,cpu_milli,memory_mib,gpu,model", *lines, ""])


def pods(kinds: Sequence[Kind], count: int, gap: float) -> str:
    """A pod file: so many jobs, one every `gap` seconds on average."""
    generator = random.Random(_SEED)
    chosen = generator.choices(kinds, [kind.weight for kind in kinds], k=count)
    moments = itertools.accumulate(generator.expovariate(1 / gap) for _ in chosen)
    lines = [_HEAD]
    for number, (kind, moment) in enumerate(zip(chosen, moments, strict=True)):
        lines += _pods(f"job-{number:03}", kind, round(moment), kind.runs.draw(generator))
    return "\n".join([*lines, ""])


def _pods(job: str, kind: Kind, came: int, runs: int) -> Iterator[str]:
    gang = job if kind.pods > 1 else ""
    cpu = max(1, kind.gpus * kind.milli // 1000) * 4_000
    for member in range(kind.pods):
        name = f"{job}-{member}" if gang else job
        asked = f"{cpu},{4 * cpu},{kind.gpus},{kind.milli},{kind.profile}"
        yield f"{name},{asked},{gang},{kind.queue},{kind.priority},{came},{came},{came + runs}"


def write(folder: Path) -> None:
    """jobs/ and mig/, each with nodes.csv and pods.csv."""
    found = {
        "jobs": (nodes(12, 8, "A"), pods(_JOBS, 160, 330)),
        "mig": (nodes(3, 4, "NVIDIA-A100-SXM4-40GB"), pods(_INSTANCES, 240, 85)),
    }
    for name, (some_nodes, some_pods) in found.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "nodes.csv").write_text(some_nodes)
        (folder / name / "pods.csv").write_text(some_pods)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
