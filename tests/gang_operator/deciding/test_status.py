"""Phase, counts and conditions, with the odd cases of the coscheduling controller put right."""

from typing import Any

import pytest

from gpuyard.writes import JSON
from gpuyard_operator.deciding.reasons import scheduled, starting
from gpuyard_operator.deciding.status import Verdict, changes, phase
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member

NOW = 1_700_000_000.0
SCHEDULED = {"type": "Scheduled", "status": "True", "reason": "GangScheduled", "message": "m"}


def group(minimum: int = 2, old: str = "", *conditions: JSON) -> Group:
    return Group("default", "ring", "uid", minimum, status={"phase": old, "conditions": list(conditions)})


def members(text: str) -> list[Member]:
    """`r` running, `s` succeeded, `f` failed, `b` bound and starting, `w` waiting, `t` terminating, `g` too
    and its containers have ended."""
    phases = {"r": "Running", "s": "Succeeded", "f": "Failed", "t": "Running", "g": "Failed"}
    return [
        Member(
            "default",
            f"pod-{i}",
            f"uid-{i}",
            "" if c == "w" else "node-1",
            phases.get(c, "Pending"),
            terminating=c in "tg",
        )
        for i, c in enumerate(text)
    ]


PHASES: list[tuple[str, Group, str, str]] = [
    ("no pods of a group without minMember: it has not run", group(1), "", "Pending"),
    ("too few", group(), "w", "Pending"),
    ("enough", group(), "ww", "Scheduling"),
    ("bound, containers starting", group(), "bb", "Scheduling"),
    ("all run", group(old="Scheduling"), "rr", "Running"),
    ("one of three fails, two run on", group(old="Running"), "rrf", "Running"),
    ("one fails and below minimum, the other runs on", group(old="Running"), "rf", "Running"),
    ("one failed and was replaced, both succeed", group(old="Running"), "fss", "Finished"),
    ("enough succeeded while others run", group(old="Running"), "ssrr", "Running"),
    ("one succeeded and its pod was collected", group(3, "Running"), "rr", "Running"),
    ("the rest of such a group succeeds", group(3, "Running", SCHEDULED), "ss", "Finished"),
    ("a finished group loses a pod", group(2, "Finished"), "s", "Finished"),
    ("all failed", group(old="Running"), "ff", "Failed"),
    ("one failed, one succeeded", group(old="Running"), "fs", "Failed"),
    ("a failed group gets new members", group(old="Failed"), "ffww", "Scheduling"),
    ("members are going", group(old="Running"), "tt", "Pending"),
    ("members fail because they are going", group(old="Running"), "gg", "Pending"),
    ("one failed, the other is going", group(old="Running"), "fg", "Failed"),
]


@pytest.mark.parametrize(("case", "found", "pods", "expected"), PHASES, ids=[row[0] for row in PHASES])
def test_the_phase_follows_the_pods(case: str, found: Group, pods: str, expected: str) -> None:
    assert phase(found, members(pods)) == expected


def said(found: Group, pods: str, verdict: Verdict | None = None) -> dict[str, Any]:
    fields = changes(found, members(pods), verdict, NOW)
    assert fields is not None
    return {**fields, "conditions": {c["type"]: c for c in fields["conditions"]}}


def test_counts_are_those_of_the_pods() -> None:
    found = said(group(), "rrsft")
    assert (found["running"], found["succeeded"], found["failed"]) == (2, 1, 1)


def test_members_that_succeeded_count_as_ready() -> None:
    assert said(group(2), "rs")["conditions"]["Ready"]["status"] == "True"
    assert said(group(2), "rf")["conditions"]["Ready"]["status"] == "False"


def test_nothing_is_written_when_the_status_says_it_already() -> None:
    verdict = Verdict(True, "GangScheduled", "m")
    fields = changes(group(), members("rr"), verdict, NOW)
    again = Group("default", "ring", "uid", 2, status=fields or {})
    assert changes(again, members("rr"), verdict, NOW + 60) is None


def test_a_transition_time_moves_only_when_the_status_flips() -> None:
    first = changes(group(), members("w"), Verdict(False, "GangWaiting", "1/2 pods present"), NOW)
    later = Group("default", "ring", "uid", 2, status=first or {})
    same = said(later, "ww", Verdict(False, "GangUnplaceable", "no room"))["conditions"]["Scheduled"]
    other = said(later, "bb", Verdict(True, "GangScheduled", "m"))["conditions"]["Scheduled"]
    assert same["lastTransitionTime"] == "2023-11-14T22:13:20Z"
    assert same["reason"] == "GangUnplaceable"
    later_time = changes(later, members("bb"), Verdict(True, "GangScheduled", "m"), NOW + 60)
    assert later_time is not None
    assert other["lastTransitionTime"] == "2023-11-14T22:13:20Z"
    assert later_time["conditions"][0]["lastTransitionTime"] == "2023-11-14T22:14:20Z"


def test_conditions_of_others_are_kept() -> None:
    foreign = {"type": "Audited", "status": "True"}
    assert said(group(2, "", foreign), "rr")["conditions"]["Audited"] == foreign


def test_the_end_of_a_group_is_remembered_when_its_pods_are_gone() -> None:
    assert changes(group(2, "Finished", SCHEDULED), [], Verdict(False, "GangWaiting", "0/2"), NOW) is None


@pytest.mark.parametrize(
    ("verdict", "true"),
    [
        (Verdict(False, "GangWaiting", "1/2 pods present"), set()),
        (Verdict(False, "QuotaExceeded", "no quota"), set()),
        (Verdict(False, "GangUnplaceable", "no room"), {"Unschedulable"}),
        (starting(2), {"Admitted"}),
        (scheduled(2), {"Scheduled", "Admitted"}),
    ],
)
def test_what_a_group_waits_for_can_be_waited_for(verdict: Verdict, true: set[str]) -> None:
    found = said(group(2), "ww", verdict)["conditions"]
    assert {kind for kind, condition in found.items() if condition["status"] == "True"} == true
