from tests.cluster.apiserver.calling import (
    CONFIGS,
    DEPLOYMENTS,
    PODS,
    Caller,
    config,
    deployment,
    pod,
)


def test_a_resource_version_on_create_is_refused(api: Caller) -> None:
    answer = api.post(CONFIGS, config("a", resourceVersion="1"))
    assert answer.status == 500
    assert "resourceVersion should not be set on objects to be created" in answer.body["message"]


def test_a_status_is_not_taken_from_the_client_except_for_nodes(api: Caller) -> None:
    assert api.make(PODS, pod("a") | {"status": {"phase": "Running"}})["status"]["phase"] == "Pending"
    assert api.make(DEPLOYMENTS, deployment("d") | {"status": {"replicas": 3}})["status"] == {}
    node = api.make("/api/v1/nodes", {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "2000m"}}})
    assert node["status"]["capacity"] == {"cpu": "2"}
