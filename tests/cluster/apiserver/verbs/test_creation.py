import re

from tests.cluster.apiserver.calling import (
    CONFIGS,
    DEPLOYMENTS,
    PODS,
    STAMP,
    Caller,
    config,
    deployment,
    pod,
)


def test_a_new_object_gets_its_identity_from_the_server(api: Caller) -> None:
    fixed = "00000000-0000-0000-0000-000000000001"
    made = api.make(CONFIGS, config("a", {"x": "y"}, uid=fixed, creationTimestamp="2001-01-01T00:00:00Z"))
    metadata = made["metadata"]
    assert (made["kind"], made["apiVersion"], made["data"]) == ("ConfigMap", "v1", {"x": "y"})
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert metadata["uid"] != fixed
    assert (metadata["namespace"], metadata["creationTimestamp"]) == ("default", STAMP)
    assert "generation" not in metadata


def test_a_generation_is_counted_by_the_server_or_by_nobody(api: Caller) -> None:
    assert api.make(CONFIGS, config("a", generation=7))["metadata"]["generation"] == 7
    assert api.make(PODS, pod("a", {"generation": 7}))["metadata"]["generation"] == 1


def test_two_servers_with_one_seed_make_the_same_objects() -> None:
    def run(seed: int) -> list[object]:
        api = Caller(seed=seed)
        return [
            api.make(CONFIGS, {"metadata": {"generateName": "x-"}}),
            api.make(PODS, pod("a")),
            api.get("/api/v1/namespaces").body,
        ]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_a_resource_version_on_create_is_refused(api: Caller) -> None:
    answer = api.post(CONFIGS, config("a", resourceVersion="1"))
    assert answer.status == 500
    assert "resourceVersion should not be set on objects to be created" in answer.body["message"]


def test_a_status_is_not_taken_from_the_client_except_for_nodes(api: Caller) -> None:
    assert api.make(PODS, pod("a") | {"status": {"phase": "Running"}})["status"]["phase"] == "Pending"
    assert api.make(DEPLOYMENTS, deployment("d") | {"status": {"replicas": 3}})["status"] == {}
    node = api.make("/api/v1/nodes", {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "2000m"}}})
    assert node["status"]["capacity"] == {"cpu": "2"}
