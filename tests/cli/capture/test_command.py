"""`gpuyard capture` beside an embedded cluster: what ran there can be replayed."""

import asyncio
import functools
import json
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
from gpuyard_cluster.wiring import parts
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_extender.reporting.decision_log import DecisionLog, sink
from gpuyard_extender.service import Extender
from gpuyard_kube.api import Api
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


async def phases(api: Api) -> dict[str, str]:
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
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*COMMAND, *given, stdout=pipe, stderr=pipe)
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            first = (await process.stderr.readline()).decode()
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


async def captured_from_decisions(folder: Path) -> tuple[int, str]:
    """Exit code and output of a capture after two pods had the same GPU, one after the other, and one waited."""
    async with EmbeddedYard(NODES[:1]) as cluster:
        for name in ("first", "second"):
            wanted = pod(name, vocabulary.GPU, **{vocabulary.RUN_SECONDS: "0"})
            wanted["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU] = "2"
            assert (await cluster.api.send(Write("POST", PODS, wanted))).ok

            async def has_ended(name: str = name) -> bool:
                return (await phases(cluster.api)).get(name) == "Succeeded"

            await until(has_ended)
            await cluster.api.send(Write("DELETE", f"{PODS}/{name}"))
        given = ["--kubeconfig", str(kubeconfig(folder / "kubeconfig", cluster.url)), "--hash-names"]
        given += [str(folder / "day.csv"), "--decisions", str(folder / "log"), "-o", "json"]
        process = await asyncio.create_subprocess_exec(*COMMAND, *given, stdout=asyncio.subprocess.PIPE)
        said, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, said.decode()


def test_what_the_extender_decided_is_placed_again_with_another_policy_and_more_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = DecisionLog(sink(str(tmp_path / "log")))
    monkeypatch.setattr(parts, "Extender", functools.partial(Extender, book=log))
    code, said = asyncio.run(captured_from_decisions(tmp_path))
    log.close()
    assert code == 0
    answer = json.loads(said)
    assert (answer["nodes"], answer["pods"], answer["notes"]) == (1, 2, [])
    assert [Path(file).name for file in answer["files"]] == ["day.csv", "day-nodes.csv"]
    pods = traces.read_pods(tmp_path / "day.csv")
    assert [(each.count, each.milli) for each in pods] == [(2, 1000), (2, 1000)]
    assert not any("first" in each.name for each in pods)
    assert sorted(each.lifetime is not None and each.lifetime.runs is None for each in pods) == [False, True]
    command = ["replay", str(tmp_path / "day.csv"), "--timed", "--policy", "spread", "--policy", "pack"]
    assert main([*command, "--add-nodes", "2xdgx-h100"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("0 of 2") == 4, shown


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["no/such/day.csv"], "no/such/day.csv: there is no such folder; name a file in one that is there"),
        (["/tmp"], "/tmp: no file can be written there; name another one"),
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
