import pytest

from tests.cluster.apiserver.calling import DEFINITIONS, WIDGETS, Caller, definition, widget

PATHS = {
    "specReplicasPath": ".spec.free.count",
    "statusReplicasPath": ".status.count",
    "labelSelectorPath": ".status.selector",
}


@pytest.fixture
def api() -> Caller:
    caller = Caller()
    caller.make(DEFINITIONS, definition(subresources={"status": {}, "scale": PATHS}))
    caller.make(WIDGETS, widget("a", free={"count": 2}))
    return caller


def test_what_was_never_set_counts_as_none(api: Caller) -> None:
    api.make(WIDGETS, widget("b"))
    assert api.get(f"{WIDGETS}/b/scale").body["status"] == {"replicas": 0}
