from typing import Any

import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds import kinds


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "app:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": containers, **spec},
    }


def test_a_pod_is_stored_with_canonical_quantities_and_without_empty_fields() -> None:
    body = pod(
        containers=[
            {"name": "main", "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {}}}
        ],
        tolerations=[],
        nodeName=None,
        securityContext={},
    )
    assert kinds.decode(body) == []
    limits = {"cpu": "1", "memory": "1Gi"}
    assert body["spec"] == {
        "containers": [{"name": "main", "resources": {"limits": limits}}],
        "securityContext": {},
    }


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": "main"},
        {"containers": ["main"]},
        {"priority": "high"},
        {"nodeSelector": {"x": 1}},
        {"containers": [{"name": "main", "resources": {"limits": {"cpu": "many"}}}]},
    ],
)
def test_a_field_of_the_wrong_type_is_a_400_that_names_it(spec: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match=r"cannot be handled as a Pod: spec\.") as refusal:
        kinds.decode(pod(**spec))
    assert (refusal.value.code, refusal.value.reason) == (400, "BadRequest")


def test_custom_objects_are_left_alone() -> None:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"x": None, "y": []}}
    assert kinds.decode(widget) == []
    assert widget["spec"] == {"x": None, "y": []}


def test_the_two_kinds_of_events_have_fields_of_their_own() -> None:
    core = {"apiVersion": "v1", "kind": "Event", "note": "x"}
    assert kinds.decode(core) == ["note"]
    newer = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "note": "x"}
    assert kinds.decode(newer) == []


def test_a_condition_has_all_its_times_though_nobody_set_them() -> None:
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "status": {"conditions": [{"type": "x"}]}}
    kinds.decode(body)
    times = {"lastProbeTime": None, "lastTransitionTime": None}
    assert body["status"]["conditions"] == [{"type": "x", "status": "", **times}]


def test_a_null_in_a_map_is_what_go_makes_of_it() -> None:
    body = pod(nodeSelector={"a": None}, overhead={"cpu": None})
    kinds.decode(body)
    assert (body["spec"]["nodeSelector"], body["spec"]["overhead"]) == ({"a": ""}, {"cpu": "0"})
