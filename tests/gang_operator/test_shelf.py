"""Objects never become older, and what was deleted never comes back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_operator.shelf import Shelf, by_claim, by_name, version

RING, TREE = ("default", "ring"), ("default", "tree")


def pod(uid: str, at: int, group: str | None = "ring") -> JSON:
    labels = {vocabulary.POD_GROUP: group} if group else {}
    metadata = {"name": uid, "namespace": "default", "uid": uid, "resourceVersion": str(at), "labels": labels}
    return {"metadata": metadata}


def test_old_news_is_no_news() -> None:
    shelf = Shelf(by_claim)
    assert shelf.put(pod("a", 7)) == {RING}
    assert shelf.put(pod("a", 7)) == set()
    assert shelf.put(pod("a", 5)) == set()
    assert version(shelf.at(RING)[0]) == 7


def test_what_was_deleted_never_comes_back() -> None:
    shelf = Shelf(by_claim)
    assert shelf.drop(pod("a", 7)) == set()
    assert shelf.put(pod("a", 6)) == set()
    assert shelf.at(RING) == ()


def test_a_pod_that_changes_its_group_touches_both() -> None:
    shelf = Shelf(by_claim)
    shelf.put(pod("a", 1))
    assert shelf.put(pod("a", 2, "tree")) == {RING, TREE}
    assert shelf.put(pod("a", 3, None)) == {TREE}
    assert shelf.keys() == set()


def test_a_list_tells_what_is_gone() -> None:
    shelf = Shelf(by_claim)
    shelf.put(pod("a", 1))
    shelf.put(pod("b", 2, "tree"))
    assert shelf.replace([pod("b", 2, "tree")]) == {RING}
    assert shelf.keys() == {TREE}


def test_a_list_beside_a_watch_does_not_judge_what_is_newer() -> None:
    shelf = Shelf(by_claim)
    shelf.put(pod("a", 1))
    shelf.put(pod("b", 9))
    shelf.replace([], as_of=5)
    assert [found["metadata"]["name"] for found in shelf.at(RING)] == ["b"]


def test_a_list_of_one_group_leaves_the_others() -> None:
    shelf = Shelf(by_claim)
    shelf.put(pod("a", 1))
    shelf.put(pod("b", 2, "tree"))
    shelf.replace([], among=RING, as_of=5)
    assert shelf.keys() == {TREE}


def test_of_two_objects_with_one_name_the_newer_counts() -> None:
    shelf = Shelf(by_name)
    metadata = {"name": "ring", "namespace": "default"}
    shelf.put({"metadata": {**metadata, "uid": "new", "resourceVersion": "9"}})
    shelf.put({"metadata": {**metadata, "uid": "old", "resourceVersion": "4"}})
    newest = shelf.newest(RING)
    assert newest is not None
    assert newest["metadata"]["uid"] == "new"


@settings(deadline=None, max_examples=50)
@given(st.permutations([("put", 1), ("put", 2), ("put", 3), ("put", 3)]), st.booleans())
def test_the_last_state_is_known_in_whatever_order_news_come(
    news: list[tuple[str, int]], deleted: bool
) -> None:
    shelf = Shelf(by_claim)
    for count, (_, at) in enumerate(news):
        if deleted and count == 2:
            shelf.drop(pod("a", 3))
        shelf.put(pod("a", at))
    assert [version(found) for found in shelf.at(RING)] == ([] if deleted else [3])
