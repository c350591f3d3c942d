from typing import Any

from gpuyard_cluster.apiserver.kinds import kinds


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "app:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": containers, **spec},
    }


def test_a_pod_is_stored_with_canonical_quantities_and_without_empty_fields() -> None:
    body = pod(
        containers=[
            {"name": "main", "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {}}}
        ],
        tolerations=[],
        nodeName=None,
        securityContext={},
    )
    assert kinds.decode(body) == []
    limits = {"cpu": "1", "memory": "1Gi"}
    assert body["spec"] == {
        "containers": [{"name": "main", "resources": {"limits": limits}}],
        "securityContext": {},
    }


def test_a_null_in_a_map_is_what_go_makes_of_it() -> None:
    body = pod(nodeSelector={"a": None}, overhead={"cpu": None})
    kinds.decode(body)
    assert (body["spec"]["nodeSelector"], body["spec"]["overhead"]) == ({"a": ""}, {"cpu": "0"})
