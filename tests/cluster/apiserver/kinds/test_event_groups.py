from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.kinds.event_groups import as_core, as_events_group
from tests.cluster.apiserver.calling import Caller

FIELDS = ["metadata", "involvedObject", "reason", "message", "count", "source", "type", "action", "eventTime"]


@given(event=st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=3)))
@settings(deadline=None, max_examples=30)
def test_there_and_back_is_the_same_event(event: dict[str, str]) -> None:
    core = {"apiVersion": "v1", "kind": "Event", **event}
    assert as_core(as_events_group(core)) == core


def test_an_event_made_in_one_group_is_read_in_the_other() -> None:
    api, about = Caller(), {"kind": "Pod", "namespace": "default", "name": "a"}
    core, newer = (f"{base}/namespaces/default/events" for base in ("/api/v1", "/apis/events.k8s.io/v1"))
    event = {
        "metadata": {"name": "e"},
        "involvedObject": about,
        "message": "on n1",
        "type": "Normal",
        "reason": "X",
    }
    api.make(core, event)
    seen = api.get(f"{newer}/e").body
    assert (seen["apiVersion"], seen["regarding"], seen["note"]) == ("events.k8s.io/v1", about, "on n1")
    assert api.get(newer).names == ["e"]
    api.patch(f"{core}/e", {"count": 3})
    assert api.get(f"{newer}/e").body["deprecatedCount"] == 3
    assert api.patch(f"{newer}/e", {"deprecatedCount": 4}).causes == {("count", "FieldValueInvalid")}
    series = {"count": 2, "lastObservedTime": "2026-01-02T03:04:05.000000Z"}
    api.patch(f"{newer}/e", {"series": series})
    assert api.get(f"{core}/e").body["series"] == series
