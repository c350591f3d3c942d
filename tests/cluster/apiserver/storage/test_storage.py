import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.storage import storage
from gpuyard_cluster.apiserver.storage.storage import FIRST_REVISION, Change, Store, object_key


def thing(name: str, value: int = 0) -> JSON:
    return {"kind": "Thing", "apiVersion": "v1", "metadata": {"name": name}, "value": value}


def names(store: Store, *where: str) -> list[str]:
    return [stored.key for stored in store.scan("things", *where)]


def test_every_change_gets_the_next_revision_and_the_object_carries_it() -> None:
    store = Store()
    first, second = store.put("things", "a", thing("a")), store.put("others", "b", thing("b"))
    assert (first.revision, second.revision) == (FIRST_REVISION + 1, FIRST_REVISION + 2)
    assert second.obj["metadata"]["resourceVersion"] == str(second.revision)
    assert store.delete("things", "a").revision == store.revision == FIRST_REVISION + 3


def test_an_object_is_encoded_with_its_type_first_and_as_it_is() -> None:
    stored = Store().put("things", "a", {"metadata": {"name": "a"}, "apiVersion": "v1", "kind": "Thing"})
    assert stored.encoded.startswith(b'{"kind":"Thing","apiVersion":"v1",')
    assert stored.copy() == stored.obj


def test_objects_given_and_copied_are_not_shared_with_the_store() -> None:
    store, given = Store(), thing("a")
    store.put("things", "a", given)
    copied = store.scan("things").__next__().copy()
    copied["value"] = 9
    assert "resourceVersion" not in given["metadata"]
    assert next(store.scan("things")).obj["value"] == 0


def test_all_who_read_an_object_share_it_and_a_past_one_is_kept_as_bytes_alone() -> None:
    store = Store()
    past = store.put("things", "a", thing("a", 1))
    assert next(store.scan("things")).obj is past.obj
    store.put("things", "a", thing("a", 2))
    assert past.obj == past.copy()
    assert past.obj is not past.obj, "decoded anew for the few who ask"
    assert past.obj["value"] == 1


def test_a_scan_is_ordered_like_etcd_and_can_be_cut() -> None:
    store = Store()
    for key in ("b/x", "a-b/x", "a/y", "a/x"):
        store.put("things", key, thing(key))
    assert names(store) == ["a-b/x", "a/x", "a/y", "b/x"]
    assert names(store, "a/") == ["a/x", "a/y"]
    assert names(store, "a/", "a/x") == ["a/y"]
    assert object_key("", "n") == "n"


def test_what_was_forgotten_is_refused_as_expired() -> None:
    store = Store(history=2)
    for value in range(4):
        store.put("things", "a", thing("a", value))
    assert [change.new.obj["value"] for change in store.since("things", store.revision - 2)] == [2, 3]
    for ask in (store.since, store.snapshot):
        with pytest.raises(ApiError) as refusal:
            ask("things", store.revision - 3)
        assert (refusal.value.code, refusal.value.reason) == (410, "Expired")


def test_subscribers_see_each_change_until_they_unsubscribe() -> None:
    store, changes = Store(), list[Change]()
    unsubscribe = store.subscribe("things", changes.append)
    store.put("things", "a", thing("a", 1))
    store.put("things", "a", thing("a", 2))
    store.put("others", "a", thing("a"))
    last = store.delete("things", "a")
    unsubscribe()
    store.put("things", "b", thing("b"))
    assert [change.kind for change in changes] == ["ADDED", "MODIFIED", "DELETED"]
    assert changes[1].old == changes[0].new
    assert (changes[2].new, last.obj["value"]) == (last, 2)


CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 3)), max_size=25)


@given(changes=CHANGES)
@settings(deadline=None, max_examples=40)
def test_a_snapshot_is_the_state_at_its_revision(changes: list[tuple[str, bool, int]]) -> None:
    store, states = Store(), dict[int, dict[str, JSON]]()
    for key, remove, value in changes:
        if remove and store.get("things", key):
            store.delete("things", key)
        else:
            store.put("things", key, thing(key, value))
        states[store.revision] = {stored.key: stored.obj for stored in store.scan("things")}
    for revision, state in states.items():
        assert {stored.key: stored.obj for stored in store.snapshot("things", revision)} == state


def test_large_objects_are_remembered_for_fewer_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "HISTORY_BYTES", 10_000)
    store = Store()
    for value in range(50):
        store.put("things", "small", thing("small", value))
    for size in (9_000, 9_100, 20_000):
        last = store.put("things", "large", thing("x" * size))
    assert (store.since("things", last.revision), len(store.scan("things").__next__().key)) == ([], 5)
    with pytest.raises(ApiError, match="too old"):
        store.since("things", last.revision - 1)
    after = store.put("things", "small", thing("small"))
    assert [change.new for change in store.since("things", last.revision)] == [after]
