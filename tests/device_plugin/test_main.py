"""The process: its options, its refusals in one line, and one life from registration to SIGTERM."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_device_plugin import options, starting
from gpuyard_device_plugin.main import main
from tests.device_plugin.fakes import NODE, MemoryApi, TinyKubelet, merge
from tests.device_plugin.grpc_kubelet import DEADLINE_SECONDS, GrpcKubelet, short_folder
from tests.listening import listening

YARD = f"nodes: [{{name: {NODE}, gpus: {{model: Tesla-T4, count: 2}}}}]"
PATH = f"/api/v1/nodes/{NODE}"
UNREACHABLE = ["--node-name", NODE, "--yard", "yard.yaml", "--api", "http://127.0.0.1:9"]


def node(**labels: str) -> JSON:
    return {"metadata": {"name": NODE, "labels": labels, "resourceVersion": "2"}}


@asynccontextmanager
async def api_server(api: MemoryApi, written: asyncio.Event | None = None) -> AsyncIterator[str]:
    """The address of an API server with one node, no pods, and watches that stay silent."""

    async def one(_request: web.Request) -> web.Response:
        return web.json_response(api.objects[PATH])

    async def patched(request: web.Request) -> web.Response:
        merge(api.objects[PATH], await request.json())
        if written is not None:
            written.set()
        return web.json_response(api.objects[PATH])

    async def several(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            await asyncio.Event().wait()
        items = [api.objects[PATH]] if request.path.endswith("nodes") else []
        return web.json_response({"items": items, "metadata": {"resourceVersion": "2"}})

    app = web.Application()
    app.add_routes([web.get(PATH, one), web.patch(PATH, patched)])
    app.add_routes([web.get("/api/v1/nodes", several), web.get("/api/v1/pods", several)])
    async with listening(app) as url:
        yield url


@asynccontextmanager
async def process(api: str, folder: Path, *words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    (folder / "yard.yaml").write_text(YARD)
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-m", "gpuyard_device_plugin.main"),
        *("--node-name", NODE, "--api", api, "--yard", str(folder / "yard.yaml"), "--log-format", "json"),
        *("--port", "0", *words),
        *("--device-plugin-dir", str(folder), "--pod-resources-socket", str(folder / "kubelet.sock")),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


async def test_it_registers_writes_on_its_node_and_leaves_nothing_behind_at_sigterm() -> None:
    api = MemoryApi(node(**{vocabulary.FAKE_GPUS: "true"}))
    written = asyncio.Event()
    async with short_folder() as folder, api_server(api, written) as address:
        kubelet = GrpcKubelet(folder, TinyKubelet())
        await kubelet.start()
        async with process(address, folder) as started:
            await kubelet.until(lambda: bool(kubelet.lists.get(vocabulary.GPU)))
            assert len(kubelet.lists[vocabulary.GPU][0]) == 2
            async with asyncio.timeout(DEADLINE_SECONDS):
                await written.wait()
            os.kill(started.pid, signal.SIGTERM)
            _, errors = await started.communicate()
        assert started.returncode == 0, errors.decode()
        assert b"Traceback" not in errors
        assert not list(folder.glob("gpuyard-*"))
        assert api.objects[PATH]["metadata"]["labels"]["nvidia.com/gpu.product"] == "Tesla-T4"
        await kubelet.stop()


async def test_it_does_not_start_where_nobody_asked_for_it() -> None:
    async with short_folder() as folder, api_server(MemoryApi(node())) as address:
        async with process(address, folder) as started:
            _, errors = await started.communicate()
        assert started.returncode == 2
        assert f"does not start on node {NODE}: found no label gpuyard.io/fake-gpus=true" in errors.decode()
        assert b"Traceback" not in errors


def test_an_api_server_that_is_not_there_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PATIENCE_SECONDS", 0)
    assert main(UNREACHABLE) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("gpuyard-device-plugin: node node-1: http://127.0.0.1:9 cannot be reached")


def test_the_daemon_set_starts_it_with_arguments_that_it_understands() -> None:
    file = Path(__file__).parents[2] / "manifests" / "device-plugin-daemon-set.yaml"
    spec = yaml.safe_load(file.read_text())["spec"]["template"]["spec"]
    [container] = spec["containers"]
    given = options.parser().parse_args(["--node-name", NODE, *container["args"]])
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    hosts = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in spec["volumes"]}
    # Containers mount it from the host, so that its path must be the same there.
    assert hosts[mounts[str(given.smi_dir)]] == str(given.smi_dir)
    assert hosts[mounts[str(given.cdi_dir)]] == str(given.cdi_dir)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--disable-healthchecks", "79,x"], "'x' is no XID; write XIDs, such as 48,79"),
        (["--smi-dir", "/proc/nothing"], "give a folder to write to with --smi-dir"),
    ],
)
async def test_settings_that_cannot_be_used_are_refused_in_one_line(words: list[str], said: str) -> None:
    api = MemoryApi(node(**{vocabulary.FAKE_GPUS: "true"}))
    async with short_folder() as folder, api_server(api) as address:
        async with process(address, folder, *words) as started:
            _, errors = await started.communicate()
        [line] = errors.decode().splitlines()
        assert (started.returncode, said in line) == (2, True), line
