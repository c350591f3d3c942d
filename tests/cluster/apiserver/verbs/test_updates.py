from tests.cluster.apiserver.calling import (
    DEPLOYMENTS,
    LEASES,
    Caller,
    deployment,
    lease,
)


def test_a_lease_can_be_created_by_a_put(api: Caller) -> None:
    assert api.put(f"{LEASES}/a", lease("a", "me")).status == 201
    assert api.put(f"{LEASES}/a", lease("a", "you")).status == 200


def test_the_generation_counts_changes_of_the_spec(api: Caller) -> None:
    api.make(DEPLOYMENTS, deployment("d"))
    path = f"{DEPLOYMENTS}/d"
    assert api.patch(path, {"metadata": {"labels": {"x": "y"}}}).body["metadata"]["generation"] == 1
    paused = api.patch(path, {"spec": {"paused": True}, "status": {"replicas": 7}}).body
    assert (paused["metadata"]["generation"], paused["status"]) == (2, {})
    reported = api.patch(f"{path}/status", {"spec": {"paused": False}, "status": {"replicas": 7}}).body
    assert (reported["metadata"]["generation"], reported["status"]["replicas"]) == (2, 7)
    assert reported["spec"]["paused"] is True
