"""What is refused before a real cluster is touched, and what is asked of it when it is."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from gpuyard import annotations, vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import Reply, Write
from gpuyard_cli.backends.kind import KindBackend, own_namespace
from gpuyard_cli.backends.kind_yard import KindYard
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.main import main
from gpuyard_cli.run_command import EXAMPLES
from gpuyard_cli.scenarios.backends import RefusedError
from gpuyard_cli.scenarios.examples import load
from gpuyard_cli.scenarios.injections import gpu_fault
from tests.cli.written import write_example


class Cluster:
    """Answers reads from a table, and notes writes."""

    def __init__(self, **objects: Any) -> None:
        self.objects, self.writes = {f"/api/v1/{path}": obj for path, obj in objects.items()}, list[Write]()

    async def read(self, path: str, **query: str) -> Reply:
        return (
            Reply(200, self.objects[path]) if path in self.objects else Reply(404, {"message": "not found"})
        )

    async def send(self, write: Write) -> Reply:
        self.writes.append(write)
        return Reply(200, {})


def prepare(cluster: Any, namespace: str) -> None:
    example = load(EXAMPLES / "02-filter-score-reserve-bind")
    asyncio.run(KindYard(cluster, example.nodes, {}).prepare(namespace))


def test_an_example_runs_in_a_namespace_of_its_own_or_not_at_all(tmp_path: Path) -> None:
    assert own_namespace(load(EXAMPLES / "01-one-gpu")) == "one-gpu"
    with pytest.raises(InvalidInputError, match="'default' is not made by the example"):
        own_namespace(load(write_example(tmp_path)))


def test_a_namespace_that_no_scenario_made_is_left_alone() -> None:
    cluster = Cluster(**{"namespaces/team": {"metadata": {"name": "team"}}})
    with pytest.raises(InvalidInputError, match="no scenario has made it"):
        prepare(cluster, "team")
    assert cluster.writes == []


def test_a_cluster_with_too_few_workers_is_refused_and_not_changed() -> None:
    cluster = Cluster(pods={"items": []}, nodes={"items": [{"metadata": {"name": "only"}}]})
    with pytest.raises(InvalidInputError, match="1 nodes have the label .*, 2 are needed"):
        prepare(cluster, "team")
    assert [write.method for write in cluster.writes] == ["DELETE"]


def test_in_the_end_pods_go_at_once_with_their_namespace() -> None:
    cluster: Any = Cluster(pods={"items": []}, nodes={"items": []})
    yard = KindYard(cluster, (), {})

    async def story() -> None:
        await yard._clear("team")
        cluster.writes.clear()
        await yard.restore()

    asyncio.run(story())
    path = "/api/v1/namespaces/team"
    assert cluster.writes == [Write("DELETE", path), Write("DELETE", f"{path}/pods")]


def test_without_a_kubeconfig_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["run", str(EXAMPLES / "01-one-gpu"), "--on", "kubeconfig"]) == 2
    assert capsys.readouterr().err.startswith("gpuyard: kubeconfig: ")


def test_a_gpu_fails_on_the_worker_that_plays_its_node_and_is_mended_at_the_end() -> None:
    cluster: Any = Cluster()
    yard = KindYard(cluster, (), {})
    yard.workers["node-1"] = "worker-3"
    backend = KindBackend(yard)

    async def story() -> None:
        await backend.hurt(gpu_fault("node-1", 2, 79))
        await backend.hurt(gpu_fault("node-1", 2, 48))
        await backend.end()

    asyncio.run(story())
    told = [(write.path, write.body) for write in cluster.writes]
    assert told == [
        ("/api/v1/nodes/worker-3", {"metadata": {"annotations": {"gpuyard.io/xid-2": xid}}})
        for xid in ("79", "48", None)
    ]


def test_what_was_made_outside_of_namespaces_goes_at_the_end() -> None:
    cluster: Any = Cluster()
    base = "/apis/scheduling.k8s.io/v1"
    kinds = [{"kind": "PriorityClass", "name": "priorityclasses", "namespaced": False}]
    cluster.objects = {
        base: {"resources": kinds},
        "/api/v1": {"resources": [{"kind": "Pod", "name": "pods", "namespaced": True}]},
    }
    backend = KindBackend(KindYard(cluster, (), {}))

    async def story() -> None:
        urgent = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "urgent"},
        }
        await backend.apply(urgent)
        await backend.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}})
        cluster.writes.clear()
        await backend.end()

    asyncio.run(story())
    assert cluster.writes == [Write("DELETE", f"{base}/priorityclasses/urgent")]


def test_what_cannot_be_mended_keeps_nothing_else_from_being_mended() -> None:
    class Unwilling(Cluster):
        async def send(self, write: Write) -> Reply:
            await super().send(write)
            return Reply(
                500 if write.body["metadata"]["annotations"] == {"gpuyard.io/xid-1": None} else 200, {}
            )

    cluster: Any = Unwilling()
    yard = KindYard(cluster, (), {})
    yard.workers |= {"node-1": "worker-1", "node-2": "worker-2"}
    backend = KindBackend(yard)

    async def story() -> None:
        for node in ("node-1", "node-2"):
            await backend.hurt(gpu_fault(node, 1, 79))
        cluster.writes.clear()
        with pytest.raises(RefusedError):
            await backend.end()

    asyncio.run(story())
    assert {write.path for write in cluster.writes} == {f"/api/v1/nodes/worker-{n}" for n in (1, 2)}


def test_a_yard_that_changes_is_mounted_and_the_plugins_are_made_to_look_until_they_have_it(
    tmp_path: Path,
) -> None:
    pods = "namespaces/gpuyard-system/pods"
    cluster: Any = Cluster(**{pods: {"items": [{"metadata": {"name": "plugin-1"}}]}})
    yard = KindYard(cluster, (), {})
    yard.workers["node-1"] = "worker-3"
    nodes = load(write_example(tmp_path)).nodes
    looks = []

    async def read(path: str, **query: str) -> Reply:
        if path != "/api/v1/nodes":
            return await Cluster.read(cluster, path, **query)
        looks.append(path)
        told = annotations.write_inventory(Inventory(nodes[0].gpus)) if len(looks) == 12 else ""
        metadata = {"name": "worker-3", "annotations": {vocabulary.INVENTORY: told}}
        return Reply(200, {"items": [{"metadata": metadata}]})

    cluster.read = read
    with patch("gpuyard_cli.backends.kind_yard.LOOK_SECONDS", 0):
        asyncio.run(yard.reconfigure(nodes, {"nodes": []}))
    mounted, *stamps = cluster.writes
    assert (mounted.path, mounted.body) == (
        "/api/v1/namespaces/gpuyard-system/configmaps/gpuyard-yard",
        {"data": {"yard.yaml": "nodes: []\n"}},
    )
    assert [write.path for write in stamps] == [f"/api/v1/{pods}/plugin-1"] * 2
    assert stamps[0].body != stamps[1].body
