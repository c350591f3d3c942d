"""The extender protocol: what is read, and exactly what is written."""

from collections.abc import Callable
from typing import Any

import pytest

from gpuyard.verdicts import Reason
from gpuyard_extender import wire
from gpuyard_extender.binding.binding import BindRequest
from gpuyard_extender.deciding.scheduling import Filtered
from tests.extender.builders import gpu_node, gpu_pod


def test_node_names_are_read_where_they_are_sent() -> None:
    asked = wire.question({"Pod": gpu_pod("a"), "Nodes": None, "NodeNames": ["n2", "n1"]})
    assert (asked.pod.name, asked.names, asked.items) == ("a", ["n2", "n1"], None)


def test_node_objects_are_read_where_they_are_sent() -> None:
    nodes = [gpu_node("n1"), gpu_node("n2")]
    asked = wire.question({"Pod": gpu_pod("a"), "Nodes": {"metadata": {}, "items": nodes}, "NodeNames": None})
    assert (asked.names, asked.items) == (("n1", "n2"), tuple(nodes))


def test_a_node_that_is_sent_twice_is_asked_about_once() -> None:
    nodes = [gpu_node("n1"), gpu_node("n1"), {"metadata": {"name": ["odd"]}}]
    asked = wire.question({"Pod": gpu_pod("a"), "Nodes": {"items": nodes}})
    assert (asked.names, asked.items) == (("n1", "['odd']"), (nodes[1], nodes[2]))
    assert wire.filter_result(asked, Filtered(("n1",), {}))["Nodes"]["items"] == [nodes[1]]


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (None, "ExtenderArgs"),
        ({"NodeNames": []}, "Pod"),
        ({"Pod": {"metadata": {"name": "a"}}, "NodeNames": []}, "Pod"),
        ({"Pod": gpu_pod("a"), "NodeNames": [1]}, "NodeNames"),
        ({"Pod": gpu_pod("a")}, "Nodes.items"),
        ({"Pod": gpu_pod("a"), "Nodes": {"items": [{"metadata": {}}]}}, "Nodes.items"),
    ],
)
def test_a_question_that_cannot_be_read_names_the_field(args: object, field: str) -> None:
    with pytest.raises(wire.InvalidArgumentsError, match=field):
        wire.question(args)


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("metadata.labels", ["a"]),
        ("spec", "none"),
        ("spec.nodeSelector", ["zone"]),
        ("spec.nodeSelector", "zone=a"),
        ("spec.affinity", ["gpu"]),
        ("spec.affinity.nodeAffinity", 1),
        ("spec.tolerations", {"key": "gpu"}),
        ("spec.containers", "train"),
        ("spec.containers", ["train"]),
        ("spec.initContainers", {"name": "init"}),
        ("status", "Pending"),
    ],
)
@pytest.mark.parametrize("read", [wire.question, wire.preempt_question])
def test_a_pod_that_cannot_be_read_names_the_field_of_the_pod(
    read: Callable[[Any], object], field: str, found: object
) -> None:
    pod: Any = gpu_pod("a")
    *path, last = field.split(".")
    place = pod
    for name in path:
        place = place.setdefault(name, {})
    place[last] = found
    with pytest.raises(
        wire.InvalidArgumentsError, match=rf"^Pod\.{field}: an? (object|list of objects) is needed$"
    ):
        read({"Pod": pod, "NodeNames": [], "NodeNameToMetaVictims": {"n1": {}}})


def test_a_bind_request_has_four_texts() -> None:
    args = {"PodName": "a", "PodNamespace": "ns", "PodUID": "u", "Node": "n"}
    assert wire.bind_request(args) == BindRequest("ns", "a", "u", "n")
    with pytest.raises(wire.InvalidArgumentsError, match="Node"):
        wire.bind_request({**args, "Node": ""})
    with pytest.raises(wire.InvalidArgumentsError):
        wire.bind_request(None)


def test_nodes_without_a_verdict_of_their_own_never_land_in_failed_nodes() -> None:
    asked = wire.question({"Pod": gpu_pod("a"), "NodeNames": ["n1", "n2"]})
    answer = wire.filter_result(asked, Filtered(("n1",), {Reason.GPU_UNHEALTHY: ("n2",)}))
    assert answer["FailedNodes"] == {}
    assert answer["FailedAndUnresolvableNodes"] == {"n2": Reason.GPU_UNHEALTHY.text}


def test_scores_are_integers_one_step_apart() -> None:
    assert wire.host_priorities({"n1": 2, "n2": 1}) == [
        {"Host": "n1", "Score": 302},
        {"Host": "n2", "Score": 151},
    ]
