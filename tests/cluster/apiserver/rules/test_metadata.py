import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata

PODS = next(resource for resource in BUILTIN if resource.qualified == "pods")
TARGET = Target(PODS, "default", "a")
OLD = {"name": "a", "uid": "u", "resourceVersion": "5", "creationTimestamp": "t", "generation": 2}


def test_an_object_lives_where_its_path_says() -> None:
    given = {"name": "a"}
    metadata.place(TARGET, given)
    assert given == {"name": "a", "namespace": "default"}
    for wrong in ({"name": "b"}, {"namespace": "elsewhere"}):
        with pytest.raises(ApiError, match="does not match") as refusal:
            metadata.place(TARGET, dict(wrong))
        assert refusal.value.code == 400


def test_writes_for_another_version_or_object_are_conflicts() -> None:
    metadata.check_version(TARGET, OLD, {"resourceVersion": "5"})
    metadata.check_version(TARGET, OLD, {})
    metadata.check_preconditions(TARGET, OLD, {"uid": "u", "resourceVersion": "5"})
    with pytest.raises(ApiError, match="the object has been modified"):
        metadata.check_version(TARGET, OLD, {"resourceVersion": "4"})
    for wrong in ({"uid": "v"}, {"resourceVersion": "4"}):
        with pytest.raises(ApiError, match="in the precondition") as refusal:
            metadata.check_preconditions(TARGET, OLD, wrong)
        assert refusal.value.code == 409
