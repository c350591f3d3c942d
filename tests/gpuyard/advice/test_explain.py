"""Why each node does not do, in one code for all and in few lines for many."""

import pytest

from gpuyard.advice.explain import alike, closest, explain
from gpuyard.pods.fit import PodFit
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


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (
            [Reason.NO_SUCH_RESOURCE, Reason.NO_SUCH_RESOURCE, Reason.SHARES_EXHAUSTED],
            Reason.SHARES_EXHAUSTED,
        ),
        ([Reason.TAINT_NOT_TOLERATED, Reason.INSUFFICIENT_GPUS], Reason.INSUFFICIENT_GPUS),
        ([Reason.NO_SUCH_RESOURCE, Reason.INSUFFICIENT_RESOURCES], Reason.INSUFFICIENT_RESOURCES),
        ([], Reason.NODE_NOT_READY),
    ],
)
def test_the_node_that_comes_closest_gives_the_code(codes: list[Reason], expected: Reason) -> None:
    assert closest(codes) is expected


def test_every_code_that_a_node_can_give_has_its_place_in_the_order() -> None:
    not_of_nodes = {
        Reason.GANG_WAITING,
        Reason.GANG_UNPLACEABLE,
        Reason.GANG_ENDED,
        Reason.QUOTA_EXCEEDED,
        Reason.QUEUED_BEHIND,
        Reason.LEADER_UNAVAILABLE,
        Reason.NO_SUCH_QUEUE,
    }
    for code in set(Reason) - not_of_nodes:
        assert closest([code]) is code


def test_a_thousand_nodes_are_told_by_reason_with_what_most_of_them_say_first() -> None:
    crowd = [Rejection(f"n{i:03}", Reason.INSUFFICIENT_GPUS, f"{i % 3 // 2} free") for i in range(999)]
    found = alike([*crowd, Rejection("x", Reason.TOPOLOGY_UNSATISFIED, "apart")])
    assert [(one.reason, len(one.nodes), one.details) for one in found] == [
        (Reason.TOPOLOGY_UNSATISFIED, 1, (("apart", 1),)),
        (Reason.INSUFFICIENT_GPUS, 999, (("0 free", 666), ("1 free", 333))),
    ]


def test_every_code_says_what_would_have_to_change() -> None:
    assert all(code.change for code in Reason)
