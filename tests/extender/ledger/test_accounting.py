"""What an extender tells an audit: what its decisions are made with."""

from gpuyard import vocabulary
from gpuyard.auditing.accounts import Stake
from tests.extender.builders import Stage, device, gpu_node, gpu_pod

ONE = {vocabulary.GPU: 1}


def devices(*indexes: int) -> frozenset[str]:
    return frozenset(device("node-1", index) for index in indexes)


def test_a_bound_pod_has_what_its_status_says_else_what_was_planned() -> None:
    plan = [device("node-1", 0)]
    stage = Stage(gpu_node("node-1"), gpu_node("node-2"))
    stage.create(gpu_pod("planned", node="node-1", plan=plan))
    stage.create(gpu_pod("real", node="node-1", plan=plan, truth=[device("node-1", 1)], phase="Running"))
    stage.create(gpu_pod("ended", node="node-1", plan=plan, phase="Succeeded"))
    assert stage.extender.accounts() == {
        "node-1": {"uid-planned": Stake(devices(0), ONE), "uid-real": Stake(devices(1), ONE)},
        "node-2": {},
    }


def test_a_device_that_two_pods_claim_is_in_both_their_stakes() -> None:
    stage = Stage(gpu_node("node-1"))
    for name in ("a", "b"):
        stage.create(gpu_pod(name, node="node-1", truth=[device("node-1", 0)], phase="Running"))
    assert [stake.devices for stake in stage.extender.accounts()["node-1"].values()] == [devices(0)] * 2


def test_a_node_without_an_inventory_has_counts_alone_and_plain_pods_have_no_stake() -> None:
    stage = Stage(gpu_node("node-1", inventory=False))
    stage.create(gpu_pod("a", node="node-1"))
    stage.create(gpu_pod("plain", 0, node="node-1"))
    assert stage.extender.accounts() == {"node-1": {"uid-a": Stake(frozenset(), ONE)}}
