"""All parts in one process are shown the stored objects themselves: none of them changes one."""

from pathlib import Path

import orjson
import pytest

from gpuyard_cli.backends import running
from gpuyard_cli.scenarios.examples import load
from gpuyard_cluster.apiserver.storage.storage import Change, Store

ROOT = Path(__file__).parents[2] / "examples"
NAMES = ("03-mig", "04-gang", "05b-wishes", "08b-hot-plug", "09-preemption")


@pytest.mark.parametrize("name", NAMES)
def test_every_object_that_was_stored_stays_as_it_was_stored(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []
    record = Store._record

    def recorded(store: Store, collection: str, change: Change) -> None:
        shown.append((change.new.obj, change.new.encoded))
        record(store, collection, change)

    monkeypatch.setattr(Store, "_record", recorded)
    running.run(load(ROOT / name), "steps")
    assert shown
    for obj, encoded in shown:
        assert orjson.dumps(obj) == encoded
