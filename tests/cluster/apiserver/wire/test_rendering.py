import orjson
import pytest
import yaml

from tests.cluster.apiserver.calling import LEASES, PODS, TABLE, Caller, lease, pod

PARTIAL = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io,application/json"


@pytest.fixture
def api() -> Caller:
    caller = Caller()
    caller.make(PODS, pod("a", {"labels": {"x": "y"}}))
    return caller


def test_tables_have_a_row_for_each_object_and_age_with_the_clock(api: Caller) -> None:
    api.time += 90
    table = api.get(PODS, accept=TABLE).body
    assert (table["kind"], table["rows"][0]["cells"][:3]) == ("Table", ["a", "0/1", "Pending"])
    assert "90s" in table["rows"][0]["cells"]
    assert len(api.get(f"{PODS}/a", accept=TABLE).body["rows"]) == 1
    assert not api.get(PODS, accept=TABLE, includeObject="None").body["rows"][0].get("object")
    assert api.get(PODS, accept=TABLE, includeObject="Some").status == 400


def test_watches_speak_the_form_that_was_asked_for(api: Caller) -> None:
    tables = api.watch(PODS, accept=TABLE, allowWatchBookmarks="true")
    partial = api.watch(PODS, accept=PARTIAL.format(""), allowWatchBookmarks="true")
    tables.mark(9)
    partial.mark(9)
    assert [event.object["kind"] for event in tables.take()] == ["Table", "Table"]
    assert [event.object["kind"] for event in partial.take()] == ["PartialObjectMetadata"] * 2


def test_yaml_is_answered_in_yaml(api: Caller) -> None:
    api.make(LEASES, lease("l", "me"))
    response = api.get(f"{LEASES}/l", accept="application/yaml").response
    assert ("content-type", "application/yaml") in response.headers
    assert yaml.safe_load(response.body)["spec"] == {"holderIdentity": "me"}
    assert orjson.loads(api.get(f"{LEASES}/l").response.body)["spec"] == {"holderIdentity": "me"}
