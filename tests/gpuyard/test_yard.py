from typing import Any

import pytest

from gpuyard.yard import InvalidYardError, YardNode, parse
from tests.gpuyard.builders import A100


def nodes(*found: Any) -> dict[str, Any]:
    return {"nodes": list(found)}


def test_a_name_is_enough_for_a_node() -> None:
    assert parse(nodes({"name": "node-1"})) == (
        YardNode("node-1", capacity={"cpu": "64", "memory": "512Gi", "pods": "110"}),
    )


def test_everything_of_a_node_is_read() -> None:
    plugin = {"version": "v1", "flags": {"migStrategy": "mixed"}}
    (found,) = parse(
        nodes(
            {
                "name": "node-1",
                "labels": {"rack": "r1"},
                "capacity": {"cpu": 8},
                "gpus": {"model": A100, "count": 2},
                "mig": [{"gpus": [1], "instances": {"7g.40gb": 1}}],
                "plugin": plugin,
                "joins": "later",
            }
        )
    )
    assert found.labels == {"rack": "r1"}
    assert found.capacity == {"cpu": "8", "memory": "512Gi", "pods": "110"}
    assert [gpu.mig_enabled for gpu in found.gpus] == [False, True]
    assert found.plugin_config == plugin
    assert found.later


def test_nodes_keep_their_order() -> None:
    assert [node.name for node in parse(nodes({"name": "b"}, {"name": "a"}))] == ["b", "a"]
    assert parse({"nodes": []}) == ()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, r"^yard\.nodes: is missing; add it$"),
        ("nodes", r"^yard: 'nodes' is not a mapping; "),
        ({"node": []}, r"^yard\.node: unknown key; use nodes$"),
        ({"nodes": {"name": "a"}}, r"^nodes: .* is not a list; "),
        (nodes({"name": "a"}, {"name": "a"}), r"^nodes\[1\]\.name: two nodes have the name 'a'; rename"),
        (nodes({}), r"^nodes\[0\]\.name: is missing; add it$"),
        (nodes({"name": "Node_1"}), r"^nodes\[0\]\.name: 'Node_1' is not a node name; "),
        (nodes({"name": "a..b"}), r"^nodes\[0\]\.name: 'a\.\.b' is not a node name; "),
        (nodes({"name": "a" * 64}), r"^nodes\[0\]\.name: 'a+' is not a node name; use at most 63 "),
        (
            nodes({"name": "a", "labels": {"k k": "v"}}),
            r"^nodes\[0\]\.labels: 'k k' is not the key of a label; ",
        ),
        (
            nodes({"name": "a", "labels": {"k": "v v"}}),
            r"^nodes\[0\]\.labels\.k: 'v v' is not the value of a label; ",
        ),
        (nodes({"name": "a", "gpu": 1}), r"^nodes\[0\]\.gpu: unknown key; use capacity, gpus"),
        (
            nodes({"name": "a", "labels": {"k": 1}}),
            r"^nodes\[0\]\.labels\.k: 1 is not a text; put it in quotes$",
        ),
        (nodes({"name": ""}), r"^nodes\[0\]\.name: '' is not a text; put it in quotes$"),
        (nodes({"name": "a", "labels": {1: "x"}}), r"^nodes\[0\]\.labels: the key 1 is not a text; put it"),
        (
            nodes({"name": "a", "capacity": {"cpu": "lots"}}),
            r"^nodes\[0\]\.capacity\.cpu: .+; write a quantity",
        ),
        (
            nodes({"name": "a", "capacity": {"cpu": True}}),
            r"^nodes\[0\]\.capacity\.cpu: .+; write a quantity",
        ),
        (
            nodes({"name": "a", "capacity": {"cpu": "-1Gi"}}),
            r"^nodes\[0\]\.capacity\.cpu: '-1Gi' is negative; ",
        ),
        (nodes({"name": "a", "capacity": {"disk": 1}}), r"^nodes\[0\]\.capacity\.disk: unknown key; "),
        (nodes({"name": "a", "plugin": "mixed"}), r"^nodes\[0\]\.plugin: 'mixed' is not a mapping; "),
        (nodes({"name": "a", "joins": "soon"}), r"^nodes\[0\]\.joins: 'soon' is unknown; write joins: later"),
        (nodes({"name": "a", "gpus": {"model": "x", "count": 1}}), r"^nodes\[0\]\.gpus\.model: "),
        (nodes({"name": "a", "gpus": {"model": A100, "count": 10**11}}), r"^nodes\[0\]\.gpus\.count: .*1024"),
        (
            nodes({"name": "a", "mig": [{"gpus": [0], "instances": {"x": 1}}]}),
            r"^nodes\[0\]\.mig\[0\]\.gpus: 0: no such",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_by_field_and_remedy(document: Any, message: str) -> None:
    with pytest.raises(InvalidYardError, match=message):
        parse(document)
