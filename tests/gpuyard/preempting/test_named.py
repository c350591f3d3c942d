"""Which of those whom kube-scheduler names may stay."""

from collections.abc import Sequence

import pytest

from gpuyard.pods.neighbours import HostPort, Neighbour
from gpuyard.preempting.named import Named, must_go

PORT = (HostPort("TCP", "0.0.0.0", 80),)
ALONE, AT_PORT = Neighbour("default", {}), Neighbour("default", {}, PORT)


def gpus(uid: str, count: int, neighbour: Neighbour | None = ALONE) -> Named:
    return Named(uid, {"nvidia.com/gpu": count}, neighbour)


@pytest.mark.parametrize(
    ("left", "named", "pod", "going"),
    [
        pytest.param(0, [gpus("a", 2)], ALONE, [], id="its GPUs are the reason, and others would do"),
        pytest.param(0, [gpus("a", 1), gpus("b", 1)], ALONE, [], id="each of two is"),
        pytest.param(2, [gpus("a", 1)], ALONE, ["a"], id="there is enough: the reason is another one"),
        pytest.param(0, [gpus("a", 2, AT_PORT)], AT_PORT, ["a"], id="its port may be a reason besides"),
        pytest.param(0, [gpus("a", 2, AT_PORT)], ALONE, [], id="nobody else wants its port"),
        pytest.param(0, [gpus("a", 2, None)], ALONE, ["a"], id="nobody knows it"),
        pytest.param(0, [gpus("a", 2), gpus("b", 1, AT_PORT)], AT_PORT, ["b"], id="one of two"),
    ],
)
def test_who_has_to_go_whatever_becomes_of_the_devices(
    left: int, named: Sequence[Named], pod: Neighbour, going: Sequence[str]
) -> None:
    found = must_go({"nvidia.com/gpu": 2}, pod, {"nvidia.com/gpu": left}, named)
    assert [victim.uid for victim in found] == going
