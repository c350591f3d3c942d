"""The newest state of objects, whatever comes twice or late."""

from gpuyard.writes import JSON
from gpuyard_kube.store import Change, Store


def named(name: str, uid: str, version: int, colour: str) -> JSON:
    metadata = {"namespace": "default", "name": name, "uid": uid, "resourceVersion": str(version)}
    return {"metadata": metadata, "colour": colour}


def colours() -> Store[str]:
    return Store(lambda obj: obj.get("colour") or None)


def test_changes_tell_what_was_and_what_is() -> None:
    mirror = colours()
    assert mirror.observe("ADDED", named("a", "1", 1, "red")) == [Change("1", None, "red")]
    assert mirror.observe("MODIFIED", named("a", "1", 2, "blue")) == [Change("1", "red", "blue")]
    assert mirror.observe("DELETED", named("a", "1", 3, "blue")) == [Change("1", "blue", None)]
    assert (mirror.get("1"), mirror.named("default", "a"), mirror.deleted("1")) == (None, None, True)


def test_an_older_version_never_replaces_a_newer_one() -> None:
    mirror = colours()
    mirror.observe("ADDED", named("a", "1", 10, "red"))
    assert mirror.observe("MODIFIED", named("a", "1", 9, "blue")) == []
    assert mirror.get("1") == "red"


def test_a_deleted_object_never_comes_back_but_its_name_may() -> None:
    mirror = colours()
    mirror.observe("ADDED", named("a", "1", 1, "red"))
    mirror.replace([])
    assert mirror.observe("MODIFIED", named("a", "1", 2, "red")) == []
    assert mirror.replace([named("a", "1", 2, "red")]) == []
    mirror.observe("ADDED", named("a", "2", 3, "blue"))
    assert mirror.named("default", "a") == "blue"


def test_of_two_objects_of_one_name_the_newer_stays() -> None:
    mirror = colours()
    mirror.observe("ADDED", named("a", "1", 1, "red"))
    expected = [Change("1", "red", None), Change("2", None, "blue")]
    assert mirror.observe("ADDED", named("a", "2", 5, "blue")) == expected
    assert mirror.observe("ADDED", named("a", "0", 4, "grey")) == []
    assert mirror.named("default", "a") == "blue"


def test_a_list_says_what_is_gone() -> None:
    mirror = colours()
    mirror.replace([named("a", "1", 1, "red"), named("b", "2", 1, "blue")])
    assert mirror.replace([named("b", "2", 1, "blue")]) == [
        Change("1", "red", None),
        Change("2", "blue", "blue"),
    ]


def test_an_object_that_becomes_unusable_counts_as_gone_until_it_is_usable_again() -> None:
    mirror = colours()
    mirror.observe("ADDED", named("a", "1", 1, "red"))
    assert mirror.observe("MODIFIED", named("a", "1", 2, "")) == [Change("1", "red", None)]
    assert mirror.observe("MODIFIED", named("a", "1", 3, "blue")) == [Change("1", None, "blue")]
