"""Roles by the labels that operators write, and each role's turn."""

import pytest

from gpuyard.groups.roles import Role, in_turn, role_of

HEAD = {"ray.io/group": "headgroup", "ray.io/node-type": "head"}


@pytest.mark.parametrize(
    ("labels", "role"),
    [
        ({}, Role()),
        (HEAD, Role("headgroup", heads=True)),
        ({"training.kubeflow.org/replica-type": "worker"}, Role("worker")),
        ({"leaderworkerset.sigs.k8s.io/worker-index": "0"}, Role(heads=True)),
        ({"ray.io/group": None, "volcano.sh/task-spec": 7}, Role("7")),
    ],
)
def test_a_role_is_read_from_labels(labels: dict[str, object], role: Role) -> None:
    assert role_of(labels) == role


def test_the_head_comes_first_then_one_of_each_role_after_the_other() -> None:
    a, b, head = Role("a"), Role("b"), Role("z", heads=True)
    members = [("a1", a), ("a2", a), ("a3", a), ("b1", b), ("b2", b), ("z", head)]
    assert in_turn(members) == ("z", "a1", "b1", "a2", "b2", "a3")


@pytest.mark.parametrize("count", [1, 10_001])
def test_however_many_roles_there_are_each_has_its_turn_before_any_has_a_second(count: int) -> None:
    """G39."""
    names = [f"role-{number}" for number in range(count)]
    twice = [(f"{name}/{turn}", Role(name)) for name in names for turn in (1, 2)]
    assert in_turn(twice) == (*(f"{name}/1" for name in names), *(f"{name}/2" for name in names))


def test_without_roles_the_order_is_kept() -> None:
    assert in_turn([(name, Role()) for name in "cab"]) == ("c", "a", "b")
