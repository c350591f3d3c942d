"""Stories of a cluster that is watched while it works."""

import asyncio
import tempfile
from pathlib import Path

from gpuyard_cli.capture import trace as capture_trace
from gpuyard_cli.capture.command import record
from gpuyard_cli.top.command import look, seen
from gpuyard_cli.top.rows import Owner
from gpuyard_cli.top.table import lines
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_replay import sources, timed
from gpuyard_replay.history import Outcome, Rules
from gpuyard_replay.queueing import Discipline
from gpuyard_replay.sources import Source
from gpuyard_replay.timed import Timing
from tests.e2e.stories.cluster import Cluster, held, node_of


async def what_ran_is_recorded_and_a_replay_places_it_again(cluster: Cluster) -> None:
    ended = asyncio.Event()
    recording = asyncio.create_task(record(cluster.api, ended, None))
    members = ["ring-0", "ring-1"]
    await cluster.gather("ring", 2)
    for name in members:
        await cluster.submit(name, gpus=8, group="ring")
    await cluster.submit("one")
    await cluster.submit("brief")
    await cluster.running([*members, "one", "brief"])
    await cluster.delete("brief")
    await cluster.gone("brief")
    ended.set()
    outcomes = await asyncio.to_thread(
        _replayed,
        capture_trace.nodes_csv(await recording, str),
        capture_trace.pods_csv(await recording, int(AsyncioRuntime().now()), str),
    )
    space = cluster.namespace
    mine = {each.job.name: each for each in outcomes if each.job.membership.queue == space}
    assert {name: (len(each.job.pods), each.job.gpu_milli) for name, each in mine.items()} == {
        f"{space}/ring": (2, 16_000),
        f"{space}/one": (1, 1000),
        f"{space}/brief": (1, 1000),
    }
    assert all(each.started is not None for each in mine.values())


async def who_has_which_gpu_is_shown_as_the_kubelet_says_it(cluster: Cluster) -> None:
    await cluster.submit("two", gpus=2)
    pod = (await cluster.running(["two"]))["two"]
    view = seen(await look(cluster.api), node_of(pod))
    owner = f"{cluster.namespace}/two"
    [node] = view.nodes
    mine = {row.gpu.uuid: row for row in node.gpus if owner in [each.pod for each in row.owners]}
    assert mine.keys() == held(pod)
    assert all((row.free, row.total, row.owners) == (0, 1, (Owner(owner),)) for row in mine.values())
    assert any(line.endswith(f"  {owner}") for line in lines(view))


def _replayed(nodes: str, pods: str) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pods.csv"
        file.write_text(pods)
        sources.beside(file).write_text(nodes)
        play = timed.drawn(Source(file), Timing(), 1)
    return list(timed.run(play, "fgd", Rules(Discipline.STRICT)).outcomes)
