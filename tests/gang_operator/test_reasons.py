"""What people read when a gang does not run."""

from gpuyard.groups.plans import Unplaceable
from gpuyard.verdicts import Reason, Rejection
from gpuyard_operator.groups import Group
from gpuyard_operator.members import Member
from gpuyard_operator.reasons import NODES_NAMED, misfit, scheduled, starting, unplaceable, waiting

GROUP = Group("default", "ring", "uid", 3)


def test_missing_members_are_counted() -> None:
    members = [Member("default", "a", "a"), Member("default", "b", "b", held=True)]
    verdict = waiting(GROUP, members, "the extender cannot be reached")
    assert verdict.reason == "GangWaiting"
    assert verdict.message == (
        "1/3 pods present; 1 more held by scheduling gates of others; "
        "no verdict yet: the extender cannot be reached"
    )


def test_a_misfit_names_the_member_and_each_node_with_numbers() -> None:
    rejections = (
        Rejection("node-2", Reason.TAINT_NOT_TOLERATED),
        Rejection("node-1", Reason.INSUFFICIENT_GPUS, "needs 4 GPUs, 2 free of 8"),
    )
    verdict = unplaceable(Unplaceable("b", rejections))
    assert verdict.reason == "GangUnplaceable"
    assert verdict.message == (
        'pod "b" does not fit: node-1: InsufficientGPUs (needs 4 GPUs, 2 free of 8); node-2: TaintNotTolerated'
    )


def test_many_nodes_are_counted() -> None:
    rejections = tuple(Rejection(f"node-{i:02}", Reason.INSUFFICIENT_GPUS) for i in range(NODES_NAMED + 30))
    assert misfit(Unplaceable("b", rejections)).endswith("; and 30 more nodes")


def test_a_cluster_without_nodes_is_said_to_have_none() -> None:
    assert misfit(Unplaceable("b", ())) == 'pod "b" does not fit: there is no node'


def test_a_rejection_of_the_pod_itself_names_no_node() -> None:
    rejection = Rejection("", Reason.INVALID_REQUEST, "nvidia.com/gpu is negative: ask 1 or more")
    assert misfit(Unplaceable("b", (rejection,))) == (
        'pod "b" does not fit: InvalidRequest (nvidia.com/gpu is negative: ask 1 or more)'
    )


def test_success_and_the_way_to_it_have_reasons_of_their_own() -> None:
    assert (starting(2).scheduled, starting(2).reason) == (False, "GangStarting")
    assert (scheduled(2).scheduled, scheduled(2).reason) == (True, "GangScheduled")
    assert scheduled(2, 'pod "d" does not fit').message.endswith('; pod "d" does not fit')
