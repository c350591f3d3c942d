"""Where Alibaba's openb traces are, if they are, and what was published of them."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from gpuyard_replay.sources import Source

FOLDER: Final = Path(
    os.environ.get("GPUYARD_TRACES") or Path(__file__).parents[3] / "shared" / "data" / "traces" / "openb"
)
PUBLISHED: Final = {
    "random": "01-Random",
    "dotprod": "02-DotProd",
    "clustering": "03-GpuClustering",
    "packing": "04-GpuPacking",
    "bestfit": "05-BestFit",
    "fgd": "06-FGD",
}
FILES: Final = {"allocated": "allo", "fragmentation": "frag", "fragmentation_ratio": "frag_ratio"}

needed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no openb traces at {FOLDER}; name their folder in GPUYARD_TRACES"
)


def source(trace: str) -> Source:
    return Source(FOLDER / f"openb_pod_list_{trace}.csv")


def published(figure: str, trace: str, policy: str) -> Mapping[int, Mapping[int, float]]:
    """By seed, then by what is asked for, in percent."""
    path = FOLDER / "expected" / f"analysis_{FILES[figure]}_discrete.csv"
    with path.open(newline="") as file:
        return {
            int(row["seed"]): {
                int(key): float(value) for key, value in row.items() if key.isdecimal() and value
            }
            for row in csv.DictReader(file)
            if row["workload"] == f"openb_pod_list_{trace}" and row["sc_policy"] == PUBLISHED[policy]
        }
