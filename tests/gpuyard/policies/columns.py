"""Nodes as columns that are written down, and pods that are typical of them."""

import numpy as np

from gpuyard.policies import workload
from gpuyard.policies.candidates import Candidates
from gpuyard.policies.workload import Shape, Workload

KNOWN = workload.typical([Shape(8000, 1000, 1)] * 4 + [Shape(4000, 500, 1)] * 3 + [Shape(2000, 0, 0)])


def candidates(
    shape: Shape, *gpus: tuple[int, ...], cpu: int = 64000, tags: int = 0, known: Workload = KNOWN
) -> Candidates:
    """Nodes with as many CPUs each, and so much free on each GPU."""
    table = np.array(gpus, np.int64)
    ones = np.ones(len(gpus), np.int64)
    return Candidates(
        known=ones,
        total=ones * 1000 * table.shape[1],
        free=table.sum(axis=1),
        requested=ones * shape.gpus * shape.milli,
        link=0 * ones,
        link_lost=0 * ones,
        holes_lost=0 * ones,
        cpu=ones * cpu,
        memory=ones * 2**18,
        gpus=table,
        model=0 * ones,
        tags=ones * tags,
        tag=ones * shape.tag,
        count=ones * shape.gpus,
        milli=ones * shape.milli,
        asked_cpu=shape.cpu,
        asked_memory=1024,
        workload=known,
    )
