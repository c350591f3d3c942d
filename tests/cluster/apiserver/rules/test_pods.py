from gpuyard_cluster.apiserver.rules import pods


def test_a_nominated_node_has_the_name_of_a_node() -> None:
    faults = pods.status_faults({"nominatedNodeName": "Node 1"})
    assert [cause.field for cause in faults] == ["status.nominatedNodeName"]
