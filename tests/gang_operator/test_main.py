"""The whole operator over HTTP: kopf against the embedded API server, and an extender of four lines."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from gpuyard import vocabulary
from gpuyard.groups.plans import Planned, answer_to_json, request_from_json
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.narration import Beat
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.http import serve
from gpuyard_kube.http import HttpApi
from gpuyard_operator.main import _until_stopped, main, run
from gpuyard_operator.settings import Settings
from tests.gang_operator.recorder import Recorder
from tests.gang_operator.world import group_path, pod_path
from tests.listening import listening

PATIENCE = 30.0
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{vocabulary.NAMESPACE}/leases"


def new_pod(name: str) -> JSON:
    spec = {
        "containers": [{"name": "main", "image": "busybox:1.36"}],
        "schedulingGates": [{"name": vocabulary.GANG_GATE}],
    }
    return {"metadata": {"name": name, "labels": {vocabulary.POD_GROUP: "ring"}}, "spec": spec}


GROUP = {
    "apiVersion": vocabulary.POD_GROUP_API,
    "kind": "PodGroup",
    "metadata": {"name": "ring"},
    "spec": {"minMember": 2},
}


@asynccontextmanager
async def extender() -> AsyncIterator[str]:
    """An extender that finds room for everybody on node-1."""

    async def plans(request: web.Request) -> web.Response:
        asked = request_from_json(await request.json())
        seats = tuple(Seat(uid, uid, "node-1", {}) for uid in asked.members)
        places = Reservation(asked.namespace, asked.group, asked.needed, time.time() + 60, seats)  # noqa: TID251
        return web.json_response(answer_to_json(Planned(places)))

    application = web.Application()
    application.router.add_post("/v1/plans", plans)
    async with listening(application) as url:
        yield url


@dataclass
class Embedded:
    """The operator in a thread with a loop of its own."""

    settings: Settings
    stop: threading.Event = field(default_factory=threading.Event)
    ready: threading.Event = field(default_factory=threading.Event)
    told: list[Beat] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        asyncio.run(run(self.settings, self.stop, self.ready, self.told.append))

    async def end(self) -> None:
        self.stop.set()
        await asyncio.to_thread(self.thread.join, PATIENCE)
        assert not self.thread.is_alive()


async def until_un_gated(api: HttpApi, names: set[str]) -> None:
    async with asyncio.timeout(PATIENCE):
        async for event in api.watch("/api/v1/pods", {}):
            if not event["object"]["spec"].get("schedulingGates"):
                names.discard(event["object"]["metadata"]["name"])
            if not names:
                return


async def start_a_gang() -> None:
    recorder = Recorder(time.time)  # noqa: TID251
    listener = await serve(recorder.server)
    async with extender() as url:
        operator = Embedded(Settings(url, api=listener.url))
        api = HttpApi.at(listener.url)
        try:
            assert await asyncio.to_thread(operator.ready.wait, PATIENCE)
            recorder.create(group_path(""), GROUP)
            for name in ("a", "b"):
                recorder.create(pod_path(""), new_pod(name))
            await until_un_gated(api, {"a", "b"})
            pod = recorder.get(pod_path("a"))
            assert pod is not None
            assert pod["status"]["nominatedNodeName"] == "node-1"
            assert "finalizers" not in pod["metadata"]
            assert "annotations" not in pod["metadata"], "kopf leaves no traces"
        finally:
            await api.close()
            await operator.end()
            await listener.close()
    assert any("un-gates a, b" in beat.text for beat in operator.told)


def test_a_gang_is_let_through_over_http_and_the_operator_stops_when_told() -> None:
    asyncio.run(start_a_gang())


def test_no_connection_stays_open_when_kopf_is_stopped_before_it_closes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gpuyard_operator.main.END_SECONDS", 0)
    asyncio.run(start_a_gang())
    gc.collect()  # pytest fails a test in which an open socket is collected


async def run_as_a_process() -> None:
    recorder = Recorder(time.time)  # noqa: TID251
    recorder.create("/api/v1/namespaces", {"metadata": {"name": vocabulary.NAMESPACE}})
    recorder.create(group_path(""), GROUP)
    listener = await serve(recorder.server)
    api = HttpApi.at(listener.url)
    command = [
        sys.executable,
        "-m",
        "gpuyard_operator.main",
        "--api",
        listener.url,
        "--extender",
        "http://127.0.0.1:9",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        [*command, "--log-format", "json"], env=os.environ, stderr=subprocess.PIPE
    ) as process:
        try:
            await until_reported(api)
            process.send_signal(signal.SIGTERM)
            _, errors = await asyncio.to_thread(process.communicate, timeout=PATIENCE)
        finally:
            process.kill()
            await api.close()
            await listener.close()
    assert process.returncode == 0
    assert b"Traceback" not in errors
    lease = recorder.get(f"{LEASES}/{vocabulary.OPERATOR}")
    assert lease is not None
    assert lease["spec"].get("holderIdentity", "") == "", "the next leader need not wait"


async def until_reported(api: HttpApi) -> None:
    async with asyncio.timeout(PATIENCE):
        async for event in api.watch(group_path(""), {}):
            if event["object"].get("status"):
                return


def test_as_a_process_it_leads_operates_and_ends_cleanly_on_sigterm() -> None:
    asyncio.run(run_as_a_process())


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "--extender URL" in capsys.readouterr().out


def test_a_kubeconfig_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--kubeconfig", "/none/config", "--extender", "http://127.0.0.1:1"])
    assert "no API server: /none/config: there is no such file; give --kubeconfig" in capsys.readouterr().err


def test_without_an_extender_the_command_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--api", "http://127.0.0.1:1"])
    assert "--extender" in capsys.readouterr().err


def test_it_ends_when_told_to_even_if_kopf_hangs() -> None:
    async def hangs() -> None:
        await asyncio.Event().wait()

    stop = threading.Event()
    stop.set()
    asyncio.run(_until_stopped(hangs(), stop))


def test_it_stops_what_waits_for_its_end_when_kopf_fails() -> None:
    async def fails() -> None:
        raise ValueError("no credentials")

    stop = threading.Event()
    with pytest.raises(ValueError, match="no credentials"):
        asyncio.run(_until_stopped(fails(), stop))
    assert stop.is_set()
