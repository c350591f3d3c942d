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


def test_replicas_are_a_number_from_zero(api: Caller) -> None:
    answer = api.patch(f"{WIDGETS}/a/scale", {"spec": {"replicas": -1}})
    assert (answer.status, answer.causes) == (422, {(".spec.free.count", "FieldValueInvalid")})
    assert api.patch(f"{WIDGETS}/a/scale", {"spec": {"replicas": "two"}}).status == 422
    assert api.put(f"{WIDGETS}/a/scale", {"spec": {"replicas": "two"}}).status == 400


def test_what_was_never_set_counts_as_none(api: Caller) -> None:
    api.make(WIDGETS, widget("b"))
    assert api.get(f"{WIDGETS}/b/scale").body["status"] == {"replicas": 0}
