from gpuyard_cluster.apiserver.rules.validation import validate_create, validate_update

POD = {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
NODE = {"kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}


def test_each_kind_has_its_rules_and_unknown_ones_have_none() -> None:
    assert [cause.field for cause in validate_create("Pod", {"spec": {}})] == ["spec.containers"]
    assert not validate_create("Pod", POD)
    assert not validate_create("Widget", {"spec": {"anything": None}})


def test_a_change_is_judged_by_the_rules_of_change() -> None:
    moved = {**POD, "spec": {**POD["spec"], "nodeName": "n"}}
    assert [cause.field for cause in validate_update("Pod", POD, moved, "")] == ["spec"]
    assert not validate_update("Pod", POD, POD, "")
    lease = {"spec": {"leaseDurationSeconds": 0}}
    assert [cause.field for cause in validate_update("Lease", {}, lease, "")] == ["spec.leaseDurationSeconds"]


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
