from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.node_status import Machine, registration, update

CHIP = "example.com/chip"
MACHINE = Machine("node-1", {"rack": "r1"}, {"cpu": "64000m", "memory": "512Gi", "pods": "110"})
NONE = Devices({}, frozenset(), ())
THREE = NONE.with_list(CHIP, {"a": True, "b": True, "c": False})


def registered(devices: Devices = NONE) -> JSON:
    write = registration(MACHINE, devices, 0)
    assert isinstance(write.body, dict)
    return {**write.body, "metadata": {**write.body["metadata"], "uid": "uid"}}


def changed(node: JSON, devices: Devices) -> JSON:
    write = update(MACHINE, devices, node, 1000)
    assert write is not None
    assert isinstance(write.body, dict)
    assert (write.path, write.body["metadata"]) == ("/api/v1/nodes/node-1/status", {"uid": "uid"})
    status: JSON = write.body["status"]
    return status


def test_a_node_is_registered_ready_with_canonical_amounts() -> None:
    node = registered()
    assert node["metadata"]["labels"]["rack"] == "r1"
    assert node["status"]["capacity"] == {"cpu": "64", "memory": "512Gi", "pods": "110"}
    assert [(found["type"], found["status"]) for found in node["status"]["conditions"]] == [("Ready", "True")]


def test_a_node_says_what_it_runs_and_that_it_is_not_the_real_thing() -> None:
    info = registered()["status"]["nodeInfo"]
    assert info["kubeletVersion"].startswith("v1.")
    assert info["kubeletVersion"].endswith("+gpuyard")
    assert info["systemUUID"] == registered()["status"]["nodeInfo"]["systemUUID"]


def test_what_others_put_into_the_status_stays() -> None:
    node = registered()
    node["status"]["capacity"]["example.com/other"] = "5"
    node["status"]["conditions"].append({"type": "Hot", "status": "True"})
    assert changed(node, THREE)["capacity"]["example.com/other"] == "5"
    node["status"]["conditions"][0]["status"] = "Unknown"
    conditions = changed(node, NONE)["conditions"]
    assert {found["type"]: found["status"] for found in conditions} == {"Hot": "True", "Ready": "True"}
