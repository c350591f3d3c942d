from gpuyard_cluster.apiserver.rules import nodes


def test_amounts_of_a_node_are_whole_and_not_negative() -> None:
    capacity = {"cpu": "8", "nvidia.com/gpu": "8"}
    assert not list(nodes.node_faults({"status": {"capacity": capacity, "allocatable": capacity}}))
    bad = {"status": {"capacity": {"cpu": "-1"}, "allocatable": {"nvidia.com/gpu": "500m"}}}
    assert {cause.field for cause in nodes.node_faults(bad)} == {
        "status.capacity[cpu]",
        "status.allocatable[nvidia.com/gpu]",
    }


def test_the_provider_of_a_node_is_set_once() -> None:
    old, new = {"spec": {"providerID": "a"}}, {"spec": {"providerID": "b"}}
    assert [cause.field for cause in nodes.update_faults(old, new)] == ["spec.providerID"]
    assert not list(nodes.update_faults({}, new))


def test_bad_taints_are_told() -> None:
    node = {"spec": {"taints": [{"key": "gpu", "effect": "Sometimes"}]}}
    assert [cause.field for cause in nodes.update_faults({}, node)] == ["spec.taints[0].effect"]
