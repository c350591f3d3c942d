import pytest

from tests.cluster.apiserver.calling import LEASES, Caller, lease, seen


def test_a_watch_from_a_version_sees_only_what_came_after(api: Caller) -> None:
    api.make(LEASES, lease("old"))
    start = api.get(LEASES).version
    made = api.make(LEASES, lease("a"))
    watch = api.watch(LEASES, resourceVersion=str(start))
    api.patch(f"{LEASES}/a", {"spec": {"holderIdentity": "x"}})
    api.delete(f"{LEASES}/a")
    events = watch.take()
    assert [event.type for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[0].object == made
    assert events[2].object["spec"] == {"holderIdentity": "x"}


@pytest.mark.parametrize("version", [1, 10**9])
def test_an_unknown_past_or_former_life_is_an_error_event(api: Caller, version: int) -> None:
    watch = api.watch(LEASES, resourceVersion=str(version))
    (event,) = watch.take()
    assert (event.type, event.object["code"], event.object["reason"]) == ("ERROR", 410, "Expired")
    assert f"too old resource version: {version}" in event.object["message"]
    assert watch.closed


def test_a_watch_is_about_one_namespace_or_all(api: Caller) -> None:
    there = LEASES.replace("default", "kube-system")
    local, everywhere = api.watch(LEASES), api.watch("/apis/coordination.k8s.io/v1/leases")
    one = api.watch(LEASES, fieldSelector="metadata.name=b")
    for path, name in ((LEASES, "a"), (there, "x"), (LEASES, "b")):
        api.make(path, lease(name))
    assert [name for _, name in seen(local)] == ["a", "b"]
    assert [name for _, name in seen(everywhere)] == ["a", "x", "b"]
    assert [name for _, name in seen(one)] == ["b"]


def test_a_closed_watch_costs_the_server_nothing_more(api: Caller) -> None:
    watch = api.watch(LEASES)
    watch.close()
    api.make(LEASES, lease("a"))
    assert seen(watch) == []


def test_the_time_that_a_reader_may_stay_is_its_own_wish(api: Caller) -> None:
    assert api.watch(LEASES, timeoutSeconds="7").seconds == 7
    assert api.watch(LEASES).seconds > 60
