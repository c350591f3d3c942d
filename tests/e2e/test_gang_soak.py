"""Of many gangs in a storm none is bound in part, and in the end each is done or explained. `make soak`: 500."""

import contextlib
import os
from collections import Counter

from tests.e2e import laws
from tests.e2e.gang_soak import GangSoak

GANGS = int(os.environ.get("GPUYARD_SOAK_GANGS", "22"))
SEED = 1


def test_gangs_are_never_bound_in_part_and_all_are_done_or_explained_in_the_end() -> None:
    soak = GangSoak(SEED)
    with contextlib.closing(soak.storm):
        soak.go_on(GANGS)
        soak.calm_down()
        pods = soak.storm.pods()
        assert soak.broken == []
        assert soak.unexplained() == []
        assert list(laws.forgotten(soak.storm, pods)) == []
        assert len(soak.ended) + len(soak.live) == GANGS
        assert Counter(soak.ended.values())["Finished"] > GANGS // 4
        soak.give_up()
        assert soak.storm.pods() == []
        assert list(laws.kept_back(soak.storm)) == []
