from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.controllers.node_lifecycle import GRACE_SECONDS, NodeLifecycle
from gpuyard_kube.timestamps import rfc3339
from tests.cluster.controllers.workshop import Workshop

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
NODE = "/api/v1/nodes/node-1"


def made(**pod: object) -> Workshop:
    shop = Workshop(NodeLifecycle())
    ready = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    shop.send(
        Write("POST", "/api/v1/nodes", {"metadata": {"name": "node-1"}, "status": {"conditions": ready}})
    )
    shop.create("pods", "worker", {"nodeName": "node-1", "containers": [{"name": "c", "image": "i"}], **pod})
    shop.settle()
    return shop


def heartbeat(shop: Workshop) -> None:
    renewed = {
        "spec": {"holderIdentity": "node-1", "renewTime": rfc3339(shop.steps.now()).replace("Z", ".000000Z")}
    }
    known = shop.read(f"{LEASES}/node-1").ok
    if known:
        shop.send(Write("PATCH", f"{LEASES}/node-1", renewed, PatchType.MERGE))
    else:
        shop.send(Write("POST", LEASES, {"metadata": {"name": "node-1"}, **renewed}))
    shop.settle()


def ready(shop: Workshop) -> tuple[str, str]:
    (found,) = shop.read(NODE).body["status"]["conditions"]
    return found["status"], found["reason"]


def taints(shop: Workshop) -> list[tuple[str, str]]:
    found: list[JSON] = shop.read(NODE).body["spec"].get("taints") or []
    return [(taint["key"].removeprefix("node.kubernetes.io/"), taint["effect"]) for taint in found]


def test_a_cordoned_node_is_tainted_and_an_uncordoned_one_is_not() -> None:
    shop = made()
    shop.send(Write("PATCH", NODE, {"spec": {"unschedulable": True}}, PatchType.MERGE))
    shop.settle()
    assert taints(shop) == [("unschedulable", "NoSchedule")]
    shop.send(Write("PATCH", NODE, {"spec": {"unschedulable": None}}, PatchType.MERGE))
    shop.settle()
    assert taints(shop) == []


def test_a_node_that_falls_silent_is_unknown_and_loses_its_pods_in_time() -> None:
    shop = made()
    heartbeat(shop)
    shop.settle(GRACE_SECONDS - 1)
    assert ready(shop) == ("True", "KubeletReady")
    shop.settle(1)
    assert ready(shop) == ("Unknown", "NodeStatusUnknown")
    assert taints(shop) == [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
    shop.settle(299)
    assert "deletionTimestamp" not in shop.get("pods", "worker")["metadata"]
    shop.settle(1)
    pod = shop.get("pods", "worker")
    assert pod["metadata"]["deletionTimestamp"]
    assert pod["status"]["conditions"][0]["reason"] == "DeletionByTaintManager"


def test_a_heartbeat_in_time_keeps_the_node() -> None:
    shop = made()
    for _ in range(4):
        heartbeat(shop)
        shop.settle(GRACE_SECONDS - 10)
    assert ready(shop) == ("True", "KubeletReady")


def test_a_node_that_comes_back_loses_its_taints_and_keeps_its_pods() -> None:
    shop = made()
    heartbeat(shop)
    shop.settle(GRACE_SECONDS + 100)
    heartbeat(shop)
    status = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}
    shop.send(Write("PATCH", f"{NODE}/status", status, PatchType.STRATEGIC))
    shop.settle(40)
    assert taints(shop) == []
    shop.settle(5)
    heartbeat(shop)
    shop.settle(40)
    assert "deletionTimestamp" not in shop.get("pods", "worker")["metadata"]


def test_a_node_without_heartbeats_is_not_judged() -> None:
    shop = made()
    shop.settle(10 * GRACE_SECONDS)
    assert ready(shop) == ("True", "KubeletReady")
    assert shop.steps.next_at() is None, "a cluster at rest has no event to come"


def test_taints_of_others_stay() -> None:
    shop = made()
    mine = [{"key": "mine", "effect": "NoSchedule"}]
    shop.send(Write("PATCH", NODE, {"spec": {"taints": mine, "unschedulable": True}}, PatchType.MERGE))
    shop.settle()
    assert taints(shop) == [("mine", "NoSchedule"), ("unschedulable", "NoSchedule")]
