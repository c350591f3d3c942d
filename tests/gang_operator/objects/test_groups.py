"""Groups are read from whatever clients write."""

import pytest

from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender.ledger import groups as extender_groups
from gpuyard_operator.objects.groups import path, read


@pytest.mark.parametrize("minimum", [None, 0, -3, "2", True, 1.5])
def test_a_minimum_without_sense_means_that_each_member_starts_alone(minimum: object) -> None:
    """G32, G33; for the operator and the extender alike."""
    obj = {"metadata": {"name": "ring", "uid": "u"}, "spec": {"minMember": minimum}}
    group, seen = read(obj), extender_groups.read(obj)
    assert group is not None
    assert seen is not None
    assert group.min_member == seen.needed == 1


def test_what_is_no_condition_hides_none_that_is_and_no_group() -> None:
    """For the operator and the extender alike."""
    said = {"type": "Scheduled", "reason": "QuotaExceeded", "message": "none is left"}
    status = {"conditions": [None, "odd", 3, {}, said]}
    obj = {"metadata": {"name": "ring", "uid": "u"}, "spec": {}, "status": status}
    group, seen = read(obj), extender_groups.read(obj)
    assert group is not None
    assert group.condition("Scheduled") == said
    assert seen is not None
    assert seen.withheld == Rejection("", Reason.QUOTA_EXCEEDED, "none is left")


def test_a_group_is_read_with_its_conditions() -> None:
    condition = {"type": "Scheduled", "status": "True"}
    group = read(
        {
            "metadata": {
                "name": "ring",
                "namespace": "blue",
                "uid": "u",
                "deletionTimestamp": "2026-01-01T00:00Z",
            },
            "spec": {"minMember": 4},
            "status": {"conditions": ["odd", condition]},
        }
    )
    assert group is not None
    assert (group.namespace, group.min_member, group.terminating) == ("blue", 4, True)
    assert group.condition("Scheduled") == condition
    assert not group.condition("Ready")


def test_what_has_no_identity_is_no_group() -> None:
    assert read(None) is None
    assert read({"metadata": {"name": "ring"}}) is None


def test_the_path_is_that_of_scheduler_plugins() -> None:
    assert path("blue", "ring") == "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/blue/podgroups/ring"
