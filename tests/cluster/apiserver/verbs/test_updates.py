from tests.cluster.apiserver.calling import (
    CONFIGS,
    DEPLOYMENTS,
    JSON_PATCH,
    LEASES,
    Caller,
    config,
    deployment,
    lease,
    seen,
)


def test_a_stale_version_loses(api: Caller) -> None:
    old = api.make(CONFIGS, config("a", {"x": "1"}))
    new = api.put(f"{CONFIGS}/a", old | {"data": {"x": "2"}})
    assert (new.status, new.body["metadata"]["uid"]) == (200, old["metadata"]["uid"])
    assert new.version > int(old["metadata"]["resourceVersion"])
    stale = api.put(f"{CONFIGS}/a", old | {"data": {"x": "3"}})
    assert (stale.status, stale.body["reason"]) == (409, "Conflict")
    assert stale.body["message"].startswith(
        'Operation cannot be fulfilled on configmaps "a": the object has been'
    )
    change = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}, "data": {"x": "3"}}
    assert api.patch(f"{CONFIGS}/a", change).status == 409
    assert api.get(f"{CONFIGS}/a").body["data"] == {"x": "2"}


def test_a_lease_can_be_created_by_a_put(api: Caller) -> None:
    assert api.put(f"{LEASES}/a", lease("a", "me")).status == 201
    assert api.put(f"{LEASES}/a", lease("a", "you")).status == 200


def test_what_changes_nothing_is_not_written(api: Caller) -> None:
    made = api.make(CONFIGS, config("a", {"x": "1"}))
    watch = api.watch(CONFIGS, resourceVersion=made["metadata"]["resourceVersion"])
    same = [{"op": "replace", "path": "/data/x", "value": "1"}]
    for answer in (
        api.put(f"{CONFIGS}/a", made),
        api.patch(f"{CONFIGS}/a", {"data": {"x": "1"}}),
        api.patch(f"{CONFIGS}/a", same, JSON_PATCH),
    ):
        assert (answer.status, answer.body) == (200, made)
    assert watch.take() == []


def test_the_generation_counts_changes_of_the_spec(api: Caller) -> None:
    api.make(DEPLOYMENTS, deployment("d"))
    path = f"{DEPLOYMENTS}/d"
    assert api.patch(path, {"metadata": {"labels": {"x": "y"}}}).body["metadata"]["generation"] == 1
    paused = api.patch(path, {"spec": {"paused": True}, "status": {"replicas": 7}}).body
    assert (paused["metadata"]["generation"], paused["status"]) == (2, {})
    reported = api.patch(f"{path}/status", {"spec": {"paused": False}, "status": {"replicas": 7}}).body
    assert (reported["metadata"]["generation"], reported["status"]["replicas"]) == (2, 7)
    assert reported["spec"]["paused"] is True


def test_a_held_object_goes_with_its_last_finalizer_as_one_event(api: Caller) -> None:
    api.make(CONFIGS, config("a", finalizers=["example.com/x", "example.com/y"]))
    api.delete(f"{CONFIGS}/a")
    watch = api.watch(CONFIGS, resourceVersion=str(api.server.revision))
    late = api.patch(f"{CONFIGS}/a", {"metadata": {"finalizers": ["example.com/z"]}})
    assert late.status == 422
    assert api.patch(f"{CONFIGS}/a", {"metadata": {"finalizers": ["example.com/x"]}}).status == 200
    assert api.patch(f"{CONFIGS}/a", {"metadata": {"finalizers": None}}).status == 200
    assert seen(watch) == [("MODIFIED", "a"), ("DELETED", "a")]
    assert api.get(f"{CONFIGS}/a").status == 404
