"""A small trace of our own, so that everything runs without anybody else's data.

Made up: sizes and proportions are chosen so that policies differ, not taken from a cluster. `replay/traces/small` is
what `python -m gpuyard_replay.synthetic FOLDER` writes.
"""

import random
import sys
from pathlib import Path
from typing import Final

_SEED: Final = 1
_NODES: Final = ((12, 48_000, 196_608, 4, "A"), (6, 96_000, 393_216, 8, "B"), (6, 64_000, 262_144, 2, "C"))
"""How many, CPU, MiB, GPUs, model."""
_PODS: Final = (
    (10, 4_000, 8_192, 0, 0, ""),
    (25, 4_000, 16_384, 1, 250, ""),
    (20, 6_000, 16_384, 1, 600, ""),
    (15, 2_000, 8_192, 1, 150, "C"),
    (35, 10_000, 40_960, 1, 1000, ""),
    (5, 16_000, 65_536, 2, 1000, "A|B"),
    (3, 64_000, 262_144, 8, 1000, ""),
)
"""Weight, CPU, MiB, GPUs, thousandths of each, models."""
_COUNT: Final = 150


def nodes() -> str:
    """The node file."""
    lines = ["sn,cpu_milli,memory_mib,gpu,model"]
    for number, cpu, memory, gpus, model in _NODES:
        lines += [f"node-{model}{i:02},{cpu},{memory},{gpus},{model}" for i in range(number)]
    return "\n".join(lines) + "\n"


def pods() -> str:
    """The pod file."""
    generator = random.Random(_SEED)
    drawn = generator.choices(_PODS, [kind[0] for kind in _PODS], k=_COUNT)
    lines = ["name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec"]
    for i, (_, cpu, memory, gpus, milli, models) in enumerate(drawn):
        varied = cpu * generator.choice((1, 1, 1, 2)) // 2 * 2
        lines.append(f"pod-{i:03},{varied},{memory},{gpus},{milli},{models}")
    return "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    """nodes.csv and pods.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nodes.csv").write_text(nodes())
    (folder / "pods.csv").write_text(pods())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
