import pytest

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.controllers.node_lifecycle import NodeLifecycle
from tests.cluster.controllers.workshop import Workshop

TAINT = {"key": "maintenance", "value": "now", "effect": "NoExecute"}
EVER = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute"}
FOR_A_MINUTE = {**EVER, "tolerationSeconds": 60}


@pytest.mark.parametrize(
    ("tolerations", "stays"), [([], 0), ([FOR_A_MINUTE], 60), ([EVER], None), ([EVER, FOR_A_MINUTE], 60)]
)
def test_a_pod_stays_as_long_as_it_tolerates_the_taint(tolerations: list[JSON], stays: int | None) -> None:
    shop = Workshop(NodeLifecycle())
    shop.send(Write("POST", "/api/v1/nodes", {"metadata": {"name": "node-1"}}))
    spec = {"nodeName": "node-1", "containers": [{"name": "c", "image": "i"}], "tolerations": tolerations}
    shop.create("pods", "worker", spec)
    # As the API server keeps it: kubectl taint gives no time, so that only our own taints have one.
    taint = {**TAINT, "timeAdded": "2023-11-14T22:13:20Z"}
    shop.send(Write("PATCH", "/api/v1/nodes/node-1", {"spec": {"taints": [taint]}}, PatchType.MERGE))
    shop.settle()
    if stays:
        assert "deletionTimestamp" not in shop.get("pods", "worker")["metadata"]
        shop.settle(stays)
    gone = "deletionTimestamp" in shop.get("pods", "worker")["metadata"]
    shop.settle(1000)
    assert gone is (stays is not None)
