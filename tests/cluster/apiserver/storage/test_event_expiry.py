"""Events go an hour after they were last written; nothing else does."""

import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.storage.event_expiry import EVENT_SECONDS
from tests.cluster.apiserver.calling import CONFIGS, MERGE, START, Caller, config

EVENTS = "/api/v1/namespaces/default/events"
OTHER_GROUP = "/apis/events.k8s.io/v1/namespaces/default/events"


def event(name: str) -> JSON:
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    return {"metadata": {"name": name}, "involvedObject": about, "type": "Normal", "reason": "r"}


@pytest.fixture
def api() -> Caller:
    api = Caller()
    api.make(EVENTS, event("first"))
    api.make(EVENTS, event("kept"))
    api.make(CONFIGS, config("a"))
    return api


def test_an_event_stays_for_an_hour_after_its_last_change(api: Caller) -> None:
    api.time = START + EVENT_SECONDS - 1
    assert api.call("PATCH", f"{EVENTS}/kept", {"count": 2}, MERGE).status == 200
    assert api.get(EVENTS).names == ["first", "kept"]
    api.time = START + EVENT_SECONDS
    api.make(EVENTS, event("last"))
    assert api.get(EVENTS).names == api.get(OTHER_GROUP).names == ["kept", "last"]
    assert api.get(CONFIGS).names == ["a"]


def test_watchers_see_it_go(api: Caller) -> None:
    watch = api.watch(EVENTS)
    watch.take()
    api.time = START + EVENT_SECONDS
    api.make(EVENTS, event("last"))
    seen = [(found.type, found.object["metadata"]["name"]) for found in watch.take()]
    assert seen == [("ADDED", "last"), ("DELETED", "first"), ("DELETED", "kept")]


def test_a_name_that_is_used_again_begins_anew(api: Caller) -> None:
    assert api.delete(f"{EVENTS}/first").status == 200
    api.time = START + 60
    api.make(EVENTS, event("first"))
    api.time = START + EVENT_SECONDS
    api.make(EVENTS, event("last"))
    assert api.get(EVENTS).names == ["first", "last"]
