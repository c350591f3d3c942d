"""Verdicts in few lines, as people read them."""

from gpuyard.verdicts import Reason
from gpuyard_cli.advice.reasons import of_groups


def test_a_verdict_on_the_cluster_as_a_whole_is_counted_as_no_node() -> None:
    groups = [
        (Reason.TOPOLOGY_UNSATISFIED, [""], [("needs 9 GPUs in one rack, best rack r1 has 8", 1)]),
        (Reason.INSUFFICIENT_GPUS, ["n1", "n2"], [("needs 3 GPUs, 1 free of 4", 2)]),
    ]
    assert [line for line in of_groups(groups) if Reason.TOPOLOGY_UNSATISFIED in line or "n1" in line] == [
        "    all  TopologyUnsatisfied",
        "      2  InsufficientGPUs      n1, n2",
    ]
