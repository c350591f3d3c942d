import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.admission import misfit
from tests.cluster.small_api import node, pod


def bound(name: str, cpu: str, **spec: object) -> JSON:
    return pod(name, {"cpu": cpu}, nodeName="a", **spec)


def test_room_is_counted_with_all_admitted_pods() -> None:
    refusal = misfit(bound("p", "3"), node("a"), [bound("q", "3"), bound("r", "3")])
    assert refusal is not None
    assert refusal.reason == "OutOfcpu"
    assert refusal.message == (
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 6000, capacity: 8000"
    )
    full = misfit(bound("p", "1"), node("a", pods="1"), [bound("q", "1")])
    assert full is not None
    assert full.reason == "OutOfpods"


@pytest.mark.parametrize(
    "spec", [{"unschedulable": True}, {"taints": [{"key": "x", "effect": "NoSchedule"}]}]
)
def test_what_keeps_the_scheduler_away_does_not_stop_a_pod_that_is_here(spec: JSON) -> None:
    assert misfit(bound("p", "1"), {**node("a"), "spec": spec}, []) is None
