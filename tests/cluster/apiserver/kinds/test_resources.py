from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN

FOUND = {resource.qualified: resource for resource in BUILTIN}


def test_names_in_messages_and_paths() -> None:
    deployments, pods = FOUND["deployments.apps"], FOUND["pods"]
    assert (deployments.qualified_kind, deployments.api_version) == ("Deployment.apps", "apps/v1")
    assert deployments.collection == "/apis/apps/v1/deployments"
    assert (pods.qualified_kind, pods.api_version, pods.collection) == ("Pod", "v1", "/api/v1/pods")


def test_both_kinds_of_events_are_one_store() -> None:
    assert FOUND["events.events.k8s.io"].store == FOUND["events"].store == "events"


def test_only_resources_with_a_status_path_keep_their_status_apart() -> None:
    assert FOUND["pods"].status_isolated
    assert not FOUND["configmaps"].status_isolated
    assert FOUND["pods"].document is None
