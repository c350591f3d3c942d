"""`gpuyard capture` beside an embedded cluster: what ran there can be replayed."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON, Write
from gpuyard_cli.main import main
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_kube.http import HttpApi
from gpuyard_replay import traces
from gpuyard_replay.columns import Membership

COMMAND = [sys.executable, "-c", "import sys; from gpuyard_cli.main import main; sys.exit(main())", "capture"]
GPUS = {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}
NODES = yard.parse(
    {
        "nodes": [
            {"name": "whole", "gpus": GPUS},
            {
                "name": "split",
                "gpus": GPUS,
                "mig": [{"gpus": [0, 1], "instances": {"3g.20gb": 2}}],
                "plugin": {"flags": {"migStrategy": "mixed"}},
            },
        ]
    }
)
PODS = "/api/v1/namespaces/default/pods"


def pod(name: str, resource: str, **notes: str) -> JSON:
    container = {"name": "main", "image": "busybox", "resources": {"limits": {resource: "1", "cpu": "1"}}}
    return {
        "metadata": {"name": name, "annotations": notes},
        "spec": {"containers": [container], "restartPolicy": "Never"},
    }


async def phases(api: HttpApi) -> dict[str, str]:
    reply = await api.read(PODS)
    return {found["metadata"]["name"]: found["status"]["phase"] for found in reply.body["items"]}


async def until(what: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await what():
            await asyncio.sleep(0.05)


def kubeconfig(path: Path, url: str) -> Path:
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "yard",
        "clusters": [{"name": "yard", "cluster": {"server": url}}],
        "users": [{"name": "yard", "user": {}}],
        "contexts": [{"name": "yard", "context": {"cluster": "yard", "user": "yard"}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


async def captured(folder: Path) -> tuple[int, str]:
    """Exit code and output of a capture of two pods that run, one that has ended and one that waits."""
    async with EmbeddedYard(NODES) as cluster:
        given = [str(folder / "day.csv"), "--kubeconfig", str(kubeconfig(folder / "kubeconfig", cluster.url))]
        process = await asyncio.create_subprocess_exec(*COMMAND, *given, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        try:
            first = (await process.stdout.readline()).decode()
            wanted = [
                pod("runs", vocabulary.GPU),
                pod("ends", vocabulary.GPU, **{vocabulary.RUN_SECONDS: "0"}),
                pod("slice", "nvidia.com/mig-3g.20gb"),
                pod("waits", "nvidia.com/mig-7g.40gb"),
            ]
            for obj in wanted:
                assert (await cluster.api.send(Write("POST", PODS, obj))).ok
            settled = {"runs": "Running", "ends": "Succeeded", "slice": "Running", "waits": "Pending"}

            async def are_settled() -> bool:
                return await phases(cluster.api) == settled

            await until(are_settled)
            await cluster.api.send(Write("DELETE", f"{PODS}/ends"))
            process.send_signal(signal.SIGINT)
            rest = (await process.stdout.read()).decode()
            return await process.wait(), first + rest
        finally:
            if process.returncode is None:
                process.kill()


def test_what_ran_on_a_cluster_is_placed_again_by_a_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = asyncio.run(captured(tmp_path))
    assert code == 0, said
    assert said.startswith("recording; Ctrl-C ends\n")
    assert "2 nodes, 4 pods" in said
    found = {each.name: each for each in traces.read_pods(tmp_path / "day.csv")}
    assert {name: (p.count, p.milli, p.profile) for name, p in found.items()} == {
        "default/runs": (1, 1000, ""),
        "default/ends": (1, 1000, ""),
        "default/slice": (1, 500, "3g.20gb"),
        "default/waits": (1, 1000, "7g.40gb"),
    }
    assert {each.membership for each in found.values()} == {Membership(queue="default")}
    assert {name for name, each in found.items() if each.lifetime and each.lifetime.runs is None} == {
        "default/waits"
    }
    assert main(["replay", str(tmp_path / "day.csv"), "--timed"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("0 of 4")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["no/such/day.csv"], "no/such/day.csv: there is no such folder; name a file in one that is there"),
        (["day.csv", "--kubeconfig", "nowhere"], "nowhere: there is no such file"),
    ],
)
def test_what_cannot_be_recorded_is_one_line_with_a_remedy(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capture", *arguments]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert len(said.splitlines()) == 1


def test_a_server_that_does_not_answer_is_told_before_anything_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:9")
    assert main(["capture", str(tmp_path / "day.csv"), "--kubeconfig", str(config), "--for", "1s"]) == 2
    assert "cannot be reached" in capsys.readouterr().err
    assert not (tmp_path / "day.csv").exists()
