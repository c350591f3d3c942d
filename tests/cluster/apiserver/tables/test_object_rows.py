"""Nodes, events, services and the like in one line."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.kinds.event_groups import as_events_group
from gpuyard_cluster.apiserver.tables import object_rows

NOW = 1000.0
CREATED = "1970-01-01T00:15:00Z"
EVENT = {
    "involvedObject": {"kind": "Pod", "name": "p"},
    "reason": "Placed",
    "message": "on n1\n",
    "type": "Normal",
    "source": {"component": "me"},
    "lastTimestamp": CREATED,
}


def whole(**parts: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "creationTimestamp": CREATED}, **parts}


def ready_node(status: str, **spec: Any) -> dict[str, Any]:
    addresses = [{"type": "InternalIP", "address": "10.0.0.1"}]
    conditions = [{"type": "Ready", "status": status}]
    reported = {"conditions": conditions, "addresses": addresses, "nodeInfo": {"kubeletVersion": "v1.36.3"}}
    return whole(spec=spec, status=reported)


def test_a_node_shows_its_state_and_where_it_is() -> None:
    node = ready_node("True", unschedulable=True)
    node["metadata"]["labels"] = {"node-role.kubernetes.io/worker": "", "other": ""}
    cells = object_rows.node(node, NOW)
    assert cells[:5] == ["Ready,SchedulingDisabled", "worker", "100s", "v1.36.3", "10.0.0.1"]


@pytest.mark.parametrize(
    ("node", "state"),
    [(ready_node("False"), "NotReady"), (ready_node("Unknown"), "NotReady"), (whole(), "Unknown")],
)
def test_a_node_that_is_not_ready_says_so(node: dict[str, Any], state: str) -> None:
    assert object_rows.node(node, NOW)[0] == state


def test_an_event_is_shown_alike_in_both_its_groups() -> None:
    event = whole(**EVENT)
    cells = ["100s", "Normal", "Placed", "pod/p", "", "me", "on n1", "<unknown>", 1, "a"]
    assert object_rows.event(event, NOW) == cells
    assert object_rows.event(as_events_group(event), NOW) == cells


def test_a_series_of_events_shows_its_last_and_its_count() -> None:
    series = {"lastObservedTime": "1970-01-01T00:16:39Z", "count": 7}
    cells = object_rows.event(whole(**EVENT, series=series, eventTime=CREATED), NOW)
    assert (cells[0], cells[7], cells[8]) == ("1s", "100s", 7)


def test_a_service_shows_its_ports() -> None:
    service = whole(
        spec={"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}], "selector": {"b": "c", "a": "b"}}
    )
    assert object_rows.service(service, NOW) == [
        "ClusterIP",
        "<none>",
        "<none>",
        "80/TCP,53/UDP",
        "100s",
        "a=b,b=c",
    ]


def test_data_is_counted() -> None:
    assert object_rows.config_map(whole(data={"x": "1"}, binaryData={"y": ""}), NOW) == [2, "100s"]
    assert object_rows.secret(whole(data=None), NOW) == ["Opaque", 0, "100s"]


def test_small_kinds_show_their_one_fact() -> None:
    assert object_rows.namespace(whole(status={"phase": "Active"}), NOW) == ["Active", "100s"]
    assert object_rows.lease(whole(spec={"holderIdentity": "me"}), NOW) == ["me", "100s"]
    assert object_rows.budget(whole(spec={"minAvailable": 1}), NOW) == ["1", "N/A", 0, "100s"]
    assert object_rows.priority_class(whole(value=5), NOW) == [5, False, "100s", "PreemptLowerPriority"]
