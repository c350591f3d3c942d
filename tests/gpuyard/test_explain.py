from gpuyard.explain import explain
from gpuyard.fit import PodFit
from gpuyard.verdicts import Reason
from tests.gpuyard.builders import GPU_RESOURCE, cluster, gpus, node, pod, request, sick


def test_every_node_that_does_not_do_says_why_also_when_another_does() -> None:
    wanted = pod(limits={GPU_RESOURCE: "4"})
    yard = cluster(
        node("fits"), node("small", gpus(2)), node("cpu-only", []), node("ill", [sick(g) for g in gpus(4)])
    )
    found = explain(PodFit.of(wanted), request(wanted), yard)
    assert [(rejection.node, rejection.reason) for rejection in found] == [
        ("cpu-only", Reason.NO_SUCH_RESOURCE),
        ("ill", Reason.GPU_UNHEALTHY),
        ("small", Reason.INSUFFICIENT_GPUS),
    ]
