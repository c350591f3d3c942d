"""The newest state of objects, whatever comes twice, late or from several sources."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import JSON
from gpuyard_kube.store import Change, Index, Store


def named(name: str, uid: str, version: int, colour: str) -> JSON:
    metadata = {"namespace": "default", "name": name, "uid": uid, "resourceVersion": str(version)}
    return {"metadata": metadata, "colour": colour}


def colours() -> Store[str]:
    return Store(lambda obj: obj.get("colour") or None)


def test_changes_tell_what_was_and_what_is() -> None:
    store = colours()
    assert store.observe("ADDED", named("a", "1", 1, "red")) == [Change("1", None, "red")]
    assert store.observe("MODIFIED", named("a", "1", 2, "blue")) == [Change("1", "red", "blue")]
    assert store.observe("DELETED", named("a", "1", 3, "blue")) == [Change("1", "blue", None)]
    assert (store.get("1"), store.named("default", "a"), store.deleted("1")) == (None, None, True)


def test_old_news_is_no_news() -> None:
    store = colours()
    store.observe("ADDED", named("a", "1", 10, "red"))
    assert store.observe("MODIFIED", named("a", "1", 9, "blue")) == []
    assert store.observe("MODIFIED", named("a", "1", 10, "red")) == []
    assert store.get("1") == "red"


def test_an_object_is_not_read_again_at_the_version_that_is_here() -> None:
    read: list[JSON] = []
    store: Store[str] = Store(lambda obj: read.append(obj) or str(obj.get("colour")))
    store.observe("ADDED", named("a", "1", 10, "red"))
    assert (store.value(named("a", "1", 10, "red")), len(read)) == ("red", 1)
    others = [
        named("a", "1", 11, "blue"),
        named("b", "2", 10, "blue"),
        {"metadata": {"name": "a"}, "colour": "blue"},
    ]
    assert [store.value(obj) for obj in others] == ["blue"] * 3
    assert store.get("1") == "red"


def test_an_object_without_version_or_uid_is_as_it_was_said_last() -> None:
    store = colours()
    for colour in ("red", "blue"):
        store.observe("MODIFIED", {"metadata": {"name": "a"}, "colour": colour})
    assert store.named("", "a") == "blue"


def test_a_deleted_object_never_comes_back_but_its_name_may() -> None:
    store = colours()
    store.observe("DELETED", named("a", "1", 1, "red"))
    assert store.observe("MODIFIED", named("a", "1", 2, "red")) == []
    assert store.replace([named("a", "1", 2, "red")]) == []
    store.observe("ADDED", named("a", "2", 3, "blue"))
    assert store.named("default", "a") == "blue"


def test_of_two_objects_of_one_name_the_newer_stays() -> None:
    store = colours()
    store.observe("ADDED", named("a", "1", 1, "red"))
    expected = [Change("1", "red", None), Change("2", None, "blue")]
    assert store.observe("ADDED", named("a", "2", 5, "blue")) == expected
    assert store.observe("ADDED", named("a", "0", 4, "grey")) == []
    assert store.named("default", "a") == "blue"


def test_a_list_says_what_is_gone() -> None:
    store = colours()
    store.replace([named("a", "1", 1, "red"), named("b", "2", 1, "blue")])
    assert store.replace([named("b", "2", 1, "blue")]) == [Change("1", "red", None)]
    assert store.deleted("1")


@pytest.mark.parametrize(
    "lose", [lambda store: store.replace([]), lambda store: store.forget("default", "a")]
)
def test_what_a_list_or_an_answer_lacks_is_there_after_all_where_news_as_new_are_seen_of_it(
    lose: Callable[[Store[str]], list[Change[str]]],
) -> None:
    """They may have been on their way while the answer to our own write, or its first event, came in."""
    store = colours()
    store.observe("MODIFIED", named("a", "1", 5, "red"))
    assert lose(store) == [Change("1", "red", None)]
    assert store.observe("MODIFIED", named("a", "1", 4, "grey")) == []
    assert store.observe("ADDED", named("a", "1", 5, "red")) == [Change("1", None, "red")]
    assert not store.deleted("1")


def test_a_list_beside_a_watch_does_not_judge_what_is_newer() -> None:
    store = colours()
    store.replace([named("a", "1", 1, "red"), named("b", "2", 9, "blue")])
    assert store.replace([], as_of=5) == [Change("1", "red", None)]


def test_a_list_of_some_leaves_the_others() -> None:
    store = colours()
    store.replace([named("a", "1", 1, "red"), named("b", "2", 1, "blue")])
    store.replace([], among={"1"})
    assert list(store.all()) == ["blue"]


def test_an_object_that_becomes_unusable_counts_as_gone_until_it_is_usable_again() -> None:
    store = colours()
    store.observe("ADDED", named("a", "1", 1, "red"))
    assert store.observe("MODIFIED", named("a", "1", 2, "")) == [Change("1", "red", None)]
    assert store.observe("MODIFIED", named("a", "1", 3, "blue")) == [Change("1", None, "blue")]


def test_what_has_no_name_is_no_object() -> None:
    store = colours()
    assert store.observe("ADDED", {"metadata": {"uid": "1"}}) == store.replace([{"metadata": None}, {}]) == []


@settings(deadline=None, max_examples=50)
@given(st.permutations([1, 2, 3, 3]), st.booleans())
def test_the_last_state_is_known_in_whatever_order_news_come(news: list[int], deleted: bool) -> None:
    store: Store[int] = Store(lambda obj: int(obj["metadata"]["resourceVersion"]))
    for count, at in enumerate(news):
        if deleted and count == 2:
            store.observe("DELETED", named("a", "1", 3, ""))
        store.observe("MODIFIED", named("a", "1", at, ""))
    assert list(store.all()) == ([] if deleted else [3])


VERSIONS = ["1", "2", "3", "", "x", "-1", "²", "9" * 5000, None, 7, {}]
COLOURS = ["red", "rose", "blue", ""]
UIDS, NAMES = st.sampled_from("123"), st.sampled_from("ab")


@st.composite
def objects(draw: st.DrawFn) -> JSON:
    obj = named(draw(NAMES), draw(UIDS), 0, draw(st.sampled_from(COLOURS)))
    obj["metadata"]["resourceVersion"] = draw(st.sampled_from(VERSIONS))
    return obj


NEWS = st.one_of(
    st.tuples(st.just("observe"), st.sampled_from(["ADDED", "MODIFIED", "DELETED", "?"]), objects()),
    st.tuples(st.just("replace"), st.lists(objects(), max_size=3), st.none() | st.integers(0, 4)),
    st.tuples(st.just("replace"), st.lists(objects(), max_size=3), st.none(), st.sets(UIDS)),
    st.tuples(st.just("forget"), st.just("default"), NAMES),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(NEWS, max_size=12))
def test_whatever_news_come_names_and_indices_lead_to_what_is_there(news: list[tuple[Any, ...]]) -> None:
    store = Store[JSON](lambda obj: obj if obj["colour"] else None)
    index = Index[str, JSON](lambda obj: str(obj["colour"]))
    for method, *told in news:
        index.take(getattr(store, method)(*told))
    there = {str(obj["metadata"]["name"]): obj for obj in store.all()}
    assert list(there.values()) == list(store.all())
    assert [store.named("default", name) for name in "ab"] == [there.get(name) for name in "ab"]
    for colour in COLOURS:
        found = [obj for obj in there.values() if obj["colour"] == colour]
        assert sorted(map(str, index.at(colour))) == sorted(map(str, found if colour else ()))


def test_an_index_finds_values_by_a_key_that_may_change() -> None:
    store, index = colours(), Index[str, str](lambda colour: colour[0] if colour != "none" else None)
    assert index.take(store.observe("ADDED", named("a", "1", 1, "red"))) == {"r"}
    index.take(store.observe("ADDED", named("b", "2", 1, "rose")))
    assert index.at("r") == ("red", "rose")
    assert index.take(store.observe("MODIFIED", named("a", "1", 2, "blue"))) == {"r", "b"}
    assert index.take(store.observe("MODIFIED", named("a", "1", 3, "none"))) == {"b"}
    assert index.take(store.observe("DELETED", named("b", "2", 2, "rose"))) == {"r"}
    assert set(index.keys()) == set()
