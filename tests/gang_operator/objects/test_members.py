"""Members are read from whatever pods there are."""

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_operator.objects.members import Member, read


def pod(spec: JSON | None = None, status: JSON | None = None, **metadata: str) -> JSON:
    return {
        "metadata": {"name": "a", "namespace": "default", "uid": "u", **metadata},
        "spec": spec or {},
        "status": status or {},
    }


def member(found: JSON) -> Member:
    result = read(found)
    assert result is not None
    return result


def test_gates_are_told_apart() -> None:
    ours, other = {"name": vocabulary.GANG_GATE}, {"name": "kueue.x-k8s.io/topology"}
    both = member(pod({"schedulingGates": [other, ours]}))
    assert (both.gated, both.held) == (True, True)
    assert (member(pod({"schedulingGates": [ours]})).held, member(pod()).gated) == (False, False)


@pytest.mark.parametrize(
    ("spec", "status", "states"),
    [
        ({}, {}, "live present waiting"),
        ({"schedulingGates": [{"name": "other"}]}, {}, "live"),
        ({"nodeName": "n"}, {"phase": "Pending"}, "live present holding"),
        ({"nodeName": "n"}, {"phase": "Running"}, "live present holding running"),
        ({"nodeName": "n"}, {"phase": "Succeeded"}, "succeeded present"),
        ({"nodeName": "n"}, {"phase": "Failed"}, ""),
    ],
)
def test_the_state_of_a_member_follows_its_pod(spec: JSON, status: JSON, states: str) -> None:
    found = member(pod(spec, status))
    names = ("live", "present", "waiting", "holding", "running", "succeeded")
    assert {name for name in names if getattr(found, name)} == set(states.split())


def test_a_pod_that_is_going_is_not_live() -> None:
    going = member(pod({"nodeName": "n"}, {"phase": "Running"}, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert (going.live, going.present, going.holding, going.running) == (False, False, False, False)


@pytest.mark.parametrize("odd", [{}, {"metadata": None}, {"metadata": {"name": "a"}}, {"metadata": []}])
def test_what_has_no_identity_is_no_member(odd: JSON) -> None:
    assert read(odd) is None
