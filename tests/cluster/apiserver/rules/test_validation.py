from gpuyard_cluster.apiserver.rules.validation import validate_update

POD = {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
NODE = {"kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}


def test_a_status_has_rules_of_its_own() -> None:
    moved = {**POD, "spec": {}, "status": {"nominatedNodeName": "Node 1"}}
    assert [cause.field for cause in validate_update("Pod", POD, moved, "status")] == [
        "status.nominatedNodeName"
    ]
    less = {**NODE, "status": {"capacity": {"cpu": "-1"}}}
    assert [cause.field for cause in validate_update("Node", NODE, less, "status")] == [
        "status.capacity[cpu]"
    ]
    assert not validate_update("Deployment", {}, {}, "scale")
