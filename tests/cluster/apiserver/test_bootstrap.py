from tests.cluster.apiserver.calling import Caller


def test_a_fresh_cluster_has_the_namespaces_that_clients_expect() -> None:
    namespaces = Caller().get("/api/v1/namespaces")
    assert namespaces.names == ["default", "kube-node-lease", "kube-public", "kube-system"]
    default = namespaces.body["items"][0]
    assert (default["status"]["phase"], default["spec"]["finalizers"]) == ("Active", ["kubernetes"])
    assert default["metadata"]["labels"] == {"kubernetes.io/metadata.name": "default"}
