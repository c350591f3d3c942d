from gpuyard.writes import PatchType, Write
from gpuyard_cluster.controllers import daemon_sets
from gpuyard_cluster.controllers.daemon_sets import DaemonSets
from tests.cluster.controllers.workshop import Workshop, template, workload


def node(shop: Workshop, name: str, **spec: object) -> None:
    """A node that has become ready: nobody here takes its first taint away."""
    body = {"metadata": {"name": name, "labels": {"kind": name.split("-")[0]}}, "spec": spec}
    shop.send(Write("POST", "/api/v1/nodes", body))
    ready = {"spec": {"taints": spec.get("taints")}}
    shop.send(Write("PATCH", f"/api/v1/nodes/{name}", ready, PatchType.MERGE))


def made(**pod: object) -> Workshop:
    shop = Workshop(DaemonSets())
    for name in ("gpu-1", "gpu-2", "cpu-1"):
        node(shop, name)
    shop.create("daemonsets", "agent", {**workload(), "template": template(**pod)})
    shop.settle()
    return shop


def places(shop: Workshop) -> list[str]:
    return sorted(daemon_sets.node_of(pod) for pod in shop.living())


def run(shop: Workshop) -> None:
    """Let each pod run on the node that it is made for."""
    for pod in shop.living():
        if "nodeName" not in pod["spec"]:
            where = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/binding"
            target = {
                "metadata": {"name": pod["metadata"]["name"]},
                "target": {"name": daemon_sets.node_of(pod)},
            }
            shop.send(Write("POST", where, target))
    shop.run()


def test_each_node_that_the_pods_may_run_on_gets_one() -> None:
    assert places(made()) == ["cpu-1", "gpu-1", "gpu-2"]
    assert places(made(nodeSelector={"kind": "gpu"})) == ["gpu-1", "gpu-2"]


def test_nodes_that_come_get_one_and_nodes_that_no_longer_match_lose_it() -> None:
    shop = made(nodeSelector={"kind": "gpu"})
    node(shop, "gpu-3")
    change = {"metadata": {"labels": {"kind": "other"}}}
    shop.send(Write("PATCH", "/api/v1/nodes/gpu-1", change, PatchType.MERGE))
    shop.settle()
    assert places(shop) == ["gpu-2", "gpu-3"]


def test_a_cordoned_node_keeps_its_daemon_and_a_tainted_one_gets_none() -> None:
    shop = made()
    node(shop, "gpu-9", taints=[{"key": "x", "value": "y", "effect": "NoSchedule"}])
    shop.send(Write("PATCH", "/api/v1/nodes/gpu-1", {"spec": {"unschedulable": True}}, PatchType.MERGE))
    shop.settle()
    assert places(shop) == ["cpu-1", "gpu-1", "gpu-2"]


def test_the_status_counts_nodes() -> None:
    shop = made()
    run(shop)
    status = shop.get("daemonsets", "agent")["status"]
    fields = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberAvailable")
    assert [status[field] for field in (*fields, "updatedNumberScheduled")] == [3, 3, 3, 3, 3]


def test_a_new_version_replaces_one_pod_at_a_time() -> None:
    shop = made()
    run(shop)
    shop.change("daemonsets", "agent", {"template": {"metadata": {"labels": {"version": "2"}}}})
    shop.settle()
    for _ in range(3):
        leaving = [pod for pod in shop.all("pods") if "deletionTimestamp" in pod["metadata"]]
        assert len(leaving) == 1
        shop.bury()
        run(shop)
    assert {pod["metadata"]["labels"].get("version") for pod in shop.living()} == {"2"}
    assert shop.get("daemonsets", "agent")["status"]["updatedNumberScheduled"] == 3
