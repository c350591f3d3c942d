"""What `gpuyard up` says once everything runs, to people and to programs."""

from pathlib import Path

from gpuyard import yard
from gpuyard_cli.up.screen import Running, screen, to_json
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory

NODES = yard.parse({"nodes": [{"name": "one", "preset": "t4"}, {"name": "cpus"}]})
INVENTORIES = [
    (node.name, node_inventory.build(node.gpus, config.parse(node.plugin_config))) for node in NODES
]
RUNNING = Running(
    "v1.36", "https://127.0.0.1:1", "http://127.0.0.1:2", Path("/k"), INVENTORIES, ["assumed: one"]
)


def test_programs_read_where_everything_is_and_what_each_node_offers() -> None:
    assert to_json(RUNNING) == {
        "version": "v1.36",
        "server": "https://127.0.0.1:1",
        "extender": "http://127.0.0.1:2",
        "page": "http://127.0.0.1:2/ui/",
        "kubeconfig": "/k",
        "nodes": [{"name": "one", "devices": {"nvidia.com/gpu": 4}}, {"name": "cpus", "devices": {}}],
        "notes": ["assumed: one"],
    }


def test_people_read_the_same_and_what_to_try() -> None:
    said = list(screen(RUNNING, 1.25))
    assert said[0] == "Kubernetes v1.36 with 2 nodes, ready in 1.2 s"
    assert "  one: 4 x Tesla-T4, 4 nvidia.com/gpu" in said
    assert "  export KUBECONFIG=/k" in said
    assert "note: assumed: one" in said
