import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.storage import watches
from gpuyard_cluster.apiserver.storage.storage import Store, Stored
from gpuyard_cluster.apiserver.storage.watches import OpenWatches, Selection, Watch, WatchEvent


def wanted(stored: Stored) -> bool:
    return bool(stored.obj["wanted"])


def watch_of(store: Store, *, bookmarks: bool = False) -> Watch:
    selection = Selection(wanted, lambda stored: stored.encoded)
    watch = Watch(selection, 60, orjson.dumps if bookmarks else None)
    watch.unsubscribe = store.subscribe("things", watch.see)
    return watch


def put(store: Store, key: str, *, wanted: bool) -> None:
    body = {"kind": "Thing", "apiVersion": "v1", "metadata": {"name": key}, "wanted": wanted}
    store.put("things", key, body)


def test_starting_and_ending_to_match_is_added_and_deleted() -> None:
    store = Store()
    watch = watch_of(store)
    for is_wanted in (False, True, True, False, False, True):
        put(store, "a", wanted=is_wanted)
    store.delete("things", "a")
    events = watch.take()
    assert [event.type for event in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]
    left = events[2].object
    assert left["wanted"], "an object that leaves is shown as it last matched"
    assert left["metadata"]["resourceVersion"] == "6", "but with the revision at which it left"


def test_readers_of_one_process_are_shown_the_stored_object_itself() -> None:
    store = Store()
    one, other = watch_of(store), watch_of(store)
    put(store, "a", wanted=True)
    (seen,), (also,) = one.take(), other.take()
    stored = store.get("things", "a")
    assert stored is not None
    assert seen.object is also.object is stored.obj


STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["in", "out", "gone"])), max_size=30)


@given(steps=STEPS)
@settings(deadline=None, max_examples=50)
def test_a_reader_who_follows_the_events_has_what_matches(steps: list[tuple[str, str]]) -> None:
    store, seen, last = Store(), dict[str, JSON](), 0
    watch = watch_of(store)
    for key, what in steps:
        if what != "gone":
            put(store, key, wanted=what == "in")
        elif store.get("things", key):
            store.delete("things", key)
    for event in watch.take():
        obj = event.object
        assert int(obj["metadata"]["resourceVersion"]) > last, "in the order of revisions"
        last = int(obj["metadata"]["resourceVersion"])
        assert (obj["metadata"]["name"] in seen) == (event.type != "ADDED")
        if event.type == "DELETED":
            del seen[obj["metadata"]["name"]]
        else:
            seen[obj["metadata"]["name"]] = obj
    assert seen == {stored.key: stored.obj for stored in store.scan("things") if stored.obj["wanted"]}


def test_the_reader_is_called_when_there_is_something_to_take() -> None:
    store, calls = Store(), list[str]()
    watch = watch_of(store)
    watch.on_event = lambda: calls.append("called")
    put(store, "a", wanted=False)
    assert calls == []
    put(store, "a", wanted=True)
    watch.close()
    assert calls == ["called", "called"]
    assert [event.type for event in watch.take()] == ["ADDED"], "what was queued can still be read"


def test_a_reader_who_falls_behind_is_ended_with_nothing_more_to_read() -> None:
    store = Store()
    watch = watch_of(store)
    for number in range(watches.BUFFER + 1):
        assert not watch.closed
        put(store, f"{number}", wanted=True)
    assert watch.closed
    assert watch.take() == []


def test_what_waits_for_a_reader_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "BUFFER_BYTES", 500)
    store = Store()
    watch = watch_of(store)
    for number in range(20):
        put(store, f"{number}", wanted=True)
    assert watch.closed
    assert watch.take() == []


def test_what_was_there_already_does_not_count_as_falling_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "BUFFER", 3)
    store = Store()
    for number in range(10):
        put(store, f"{number}", wanted=True)
    watch = watch_of(store)
    for stored in store.scan("things"):
        watch.show(stored)
    for number in range(3):
        put(store, f"{number}", wanted=True)
    assert not watch.closed
    assert len(watch.take()) == 13


def test_bookmarks_only_come_to_readers_who_allow_them() -> None:
    store = Store()
    plain, marked = watch_of(store), watch_of(store, bookmarks=True)
    for watch in (plain, marked):
        watch.mark(7)
        watch.mark(8, initial_end=True)
    assert plain.take() == []
    first, second = marked.take()
    assert (first.type, first.object) == ("BOOKMARK", {"resourceVersion": "7"})
    assert second.object["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_failed_watch_ends_with_the_error() -> None:
    watch = watch_of(Store())
    watch.fail(ApiError(410, "Expired", "too old"))
    (event,) = watch.take()
    assert (event.type, event.object["code"], watch.closed) == ("ERROR", 410, True)


def test_an_event_is_one_line() -> None:
    assert WatchEvent("ADDED", b'{"a":1}').line == b'{"type":"ADDED","object":{"a":1}}\n'


def test_watches_end_with_their_collection_or_all_together() -> None:
    store, opened = Store(), OpenWatches()
    first, second, other = watch_of(store), watch_of(store), watch_of(store)
    first.close()
    for watch in (first, second):
        opened.add("things", watch)
    opened.add("others", other)
    opened.close("things")
    assert (second.closed, other.closed) == (True, False)
    opened.close_all()
    assert other.closed
