from gpuyard.explain import PodVerdict, explain, verdict
from gpuyard.fit import PodFit
from gpuyard.verdicts import Reason, Rejection
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


def rejections(*reasons: Reason) -> tuple[Rejection, ...]:
    return tuple(Rejection(f"node-{i}", reason) for i, reason in enumerate(reasons))


def test_the_code_of_a_pod_is_the_commonest() -> None:
    found = rejections(Reason.INSUFFICIENT_GPUS, Reason.NODE_NOT_READY, Reason.NODE_NOT_READY)
    assert verdict("p", found, 3) == PodVerdict("p", Reason.NODE_NOT_READY, found)


def test_of_equally_common_codes_the_first_in_the_list_wins() -> None:
    assert (
        verdict("p", rejections(Reason.NODE_NOT_READY, Reason.SHARES_EXHAUSTED), 2).code
        is Reason.SHARES_EXHAUSTED
    )


def test_a_pod_that_some_node_would_take_has_no_code() -> None:
    assert verdict("p", rejections(Reason.NODE_NOT_READY), 2).code is None
    assert verdict("p", (), 0).code is None
