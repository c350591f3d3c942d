import random
import re

from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.kinds.registry import Registry
from gpuyard_cluster.apiserver.storage.storage import Store


def backend(seed: int) -> Backend:
    return Backend(Store(), Registry(()), lambda: 1_700_000_000.9, random.Random(seed))


def test_times_are_whole_seconds_in_utc() -> None:
    assert backend(1).timestamp() == "2023-11-14T22:13:20Z"
    assert backend(1).timestamp(30) == "2023-11-14T22:13:50Z"


def test_uids_and_suffixes_follow_from_the_seed() -> None:
    first, second = backend(1), backend(1)
    assert (first.uid(), first.suffix()) == (second.uid(), second.suffix())
    assert first.uid() != first.uid()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first.uid())
