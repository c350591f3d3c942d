"""What is refused before a real cluster is touched, and what is asked of it when it is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gpuyard.writes import Reply, Write
from gpuyard_cli.backends import RefusedError
from gpuyard_cli.examples import load
from gpuyard_cli.injections import gpu_fault
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.kind_backend import KindBackend, own_namespace
from gpuyard_cli.kind_yard import KindYard
from gpuyard_cli.main import EXAMPLES, main
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
