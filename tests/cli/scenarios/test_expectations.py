"""What a step expects is compared with what is seen, and every difference is said."""

from gpuyard_cli.scenarios.expectations import differences
from gpuyard_cli.scenarios.observation import GroupSeen, Observation, PodSeen
from gpuyard_cli.scenarios.scenario import Expectation, ExpectedGroup, ExpectedPod

SEEN = Observation(
    pods={
        "train": PodSeen("Running", "node-1", {"main": ("0", "1")}),
        "late": PodSeen("Pending", code="InsufficientGPUs", reasons={"node-1": "InsufficientGPUs"}),
        "fresh": PodSeen("Pending", code="InsufficientGPUs", judged=False),
    },
    groups={"gang": GroupSeen("False", "GangUnplaceable", "gang-worker-1 has no node")},
    reservations=("gang",),
    allocatable={"node-1": {"nvidia.com/gpu": 4}},
    free={"node-1": {"nvidia.com/gpu": 2}},
    sees={"train/main": ("A=1",)},
    links_down={"node-1": ("0-1", "2-3")},
)


def test_an_observation_that_is_as_expected_has_no_differences() -> None:
    expected = Expectation(
        pods={
            "train": ExpectedPod("Running", "node-1", {"main": ("0", "1")}),
            "late": ExpectedPod("Pending", code="InsufficientGPUs", reasons={"node-1": "InsufficientGPUs"}),
            "left": ExpectedPod("Gone"),
        },
        groups={"gang": ExpectedGroup("False", "GangUnplaceable", "gang-worker-1")},
        reservations=("gang",),
        allocatable={"node-1": {"nvidia.com/gpu": 4}},
        free={"node-1": {"nvidia.com/gpu": 2}},
        sees={"train/main": ("A=1",)},
        links_down={"node-1": ("2-3", "0-1"), "node-2": ()},
    )
    assert differences(expected, SEEN) == ()


def test_each_difference_is_one_line_that_names_both_sides() -> None:
    expected = Expectation(
        pods={
            "train": ExpectedPod("Running", "node-2", {"main": ("0", "3")}),
            "late": ExpectedPod("Pending", code="NoMIGPlacement", reasons={"node-2": "InsufficientGPUs"}),
            "absent": ExpectedPod("Running"),
        },
        groups={"gang": ExpectedGroup("True", message="worker-7"), "other": ExpectedGroup("True")},
        reservations=(),
        free={"node-1": {"nvidia.com/gpu": 4}},
        sees={"train/main": ("B=2",)},
        links_down={"node-1": ("0-1",)},
    )
    assert differences(expected, SEEN) == (
        "pod train: node is node-1, expected node-2",
        "pod train: devices of main is 0 1, expected 0 3",
        "pod late: code is InsufficientGPUs, expected NoMIGPlacement",
        "pod late: reason on node-2 is missing, expected InsufficientGPUs",
        "pod absent: there is none",
        "podgroup gang: Scheduled is False (gang-worker-1 has no node), expected True",
        "podgroup gang: message is 'gang-worker-1 has no node', expected 'worker-7' in it",
        "podgroup other: there is none",
        "reservations are ['gang'], expected []",
        "node node-1: free nvidia.com/gpu is 2, expected 4",
        "node node-1: links down is 0-1 2-3, expected 0-1",
        "train/main does not print B=2",
    )


def test_devices_are_compared_container_by_container() -> None:
    expected = Expectation(pods={"train": ExpectedPod("Running", devices={"mian": ("0", "1")})})
    assert differences(expected, SEEN) == (
        "pod train: devices of main is 0 1, expected none",
        "pod train: devices of mian is none, expected 0 1",
    )


def test_a_pod_that_should_be_gone_must_be_gone() -> None:
    expected = Expectation(pods={"train": ExpectedPod("Gone")})
    assert differences(expected, SEEN) == ("pod train: is still there, Running",)


def test_a_code_counts_only_once_the_pod_was_judged() -> None:
    expected = Expectation(pods={"fresh": ExpectedPod("Pending", code="InsufficientGPUs")})
    assert differences(expected, SEEN) == ("pod fresh: nobody has said yet why it waits",)
