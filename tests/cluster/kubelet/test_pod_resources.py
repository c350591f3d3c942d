from gpuyard_cluster.kubelet.device_manager import Devices, Holding
from gpuyard_cluster.kubelet.pod_resources import listing
from tests.cluster.small_api import pod

CHIP = "example.com/chip"


def test_there_is_one_entry_for_each_device_and_none_for_init_containers() -> None:
    side = {"name": "side", "restartPolicy": "Always"}
    wanted = pod("p", initContainers=[{"name": "init"}, side])
    plain = pod("plain")
    wanted["metadata"]["uid"], plain["metadata"]["uid"] = "uid", "other"
    held = (
        Holding("uid", "init", CHIP, ("a",), {}),
        Holding("uid", "side", CHIP, ("b",), {}),
        Holding("uid", "main", CHIP, ("a", "c"), {}),
    )
    first, second = listing([wanted, plain], Devices({}, frozenset(), held)).pod_resources
    assert (first.namespace, first.name) == ("default", "p")
    shown = [
        (part.name, [(each.resource_name, list(each.device_ids)) for each in part.devices])
        for part in first.containers
    ]
    assert shown == [("side", [(CHIP, ["b"])]), ("main", [(CHIP, ["a"]), (CHIP, ["c"])])]
    assert [(part.name, len(part.devices)) for part in second.containers] == [("main", 0)]
