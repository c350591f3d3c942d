"""The command `gpuyard-device-plugin`: from its settings to one node that is served, until a signal ends it."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpuyard.narration import Beat
from gpuyard.writes import JSON
from gpuyard_device_plugin import assembly, options, starting
from gpuyard_device_plugin.assembly import SetupError
from gpuyard_device_plugin.containers import smi
from gpuyard_device_plugin.devices import health
from gpuyard_device_plugin.dialing import KubeletPodResources
from gpuyard_device_plugin.pages import pages
from gpuyard_device_plugin.ports import Ports, Sources
from gpuyard_device_plugin.publishing import cleanup
from gpuyard_device_plugin.reloading import Reloading
from gpuyard_device_plugin.server import SocketPathError
from gpuyard_device_plugin.service import DevicePlugin
from gpuyard_device_plugin.shell import PluginShell
from gpuyard_kube import arguments, logs
from gpuyard_kube.api import Observer
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_kube.servers import NoServerError
from gpuyard_kube.serving import AddressError, PageServer

log = logging.getLogger("gpuyard.device_plugin")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. 2: something has to be corrected first, as the one line on stderr says."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == [cleanup.COMMAND]:
        return _clean_up(words[1:])
    given = options.parser().parse_args(words)
    logs.configure(given.log_format)
    try:
        asyncio.run(run(given))
    except (SetupError, SocketPathError, AddressError) as error:
        print(f"gpuyard-device-plugin: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def _clean_up(words: Sequence[str]) -> int:
    try:
        removed = asyncio.run(cleanup.run(words))
    except cleanup.CleanupError as error:
        print(f"gpuyard-device-plugin: {error}", file=sys.stderr)  # noqa: T201
        return 2
    for line in removed or ["nothing to remove"]:
        print(line)  # noqa: T201
    return 0


async def run(given: argparse.Namespace) -> None:
    """Serve one node. SetupError, SocketPathError or AddressError when that cannot be."""
    api = await _api(given)
    runtime = AsyncioRuntime()
    try:
        node = await starting.node(api, runtime, given.node_name, given.device_plugin_dir)
        sources = Sources(given.yard, given.yard_node, given.config)
        spec = assembly.plugin_spec(node, sources.yard, sources.yard_node, sources.config)
        pod_resources = KubeletPodResources(given.pod_resources_socket)
        ports = Ports(api, runtime, pod_resources, _narrate, _smi(given.smi_dir))
        plugin = DevicePlugin(spec, ports, _xids(given))
        shell = PluginShell(plugin, given.device_plugin_dir)
        async with PageServer(pages(plugin, lambda: shell.ready), given.host, given.port) as server:
            log.info("asked at %s", server.url)
            await _serve(plugin, api, shell, Reloading(plugin, sources, given.cdi_dir))
    finally:
        await runtime.close()
        await api.close()


class FirstLook:
    """Hands on to the plugin what an informer says; `done` once all was said for the first time."""

    def __init__(self, observer: Observer, resources: Iterable[str]) -> None:
        self.done = asyncio.Event()
        self._observer, self._missing = observer, set(resources)

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        self._observer.replace(resource, objects)
        self._missing.discard(resource)
        if not self._missing:
            self.done.set()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        self._observer.observe(resource, event, obj)


async def _serve(plugin: DevicePlugin, api: HttpApi, shell: PluginShell, reloading: Reloading) -> None:
    paths = {
        "pods": f"/api/v1/pods?fieldSelector=spec.nodeName={plugin.node}",
        "nodes": f"/api/v1/nodes?fieldSelector=metadata.name={plugin.node}",
    }
    observer = FirstLook(plugin, paths)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)

    async def meet_kubelet() -> None:
        # Whoever is admitted must not get what a pod holds that was not heard of yet.
        await observer.done.wait()
        await asyncio.gather(shell.run(), reloading.run())

    work = [
        asyncio.create_task(Informer(api, observer, paths).run()),
        asyncio.create_task(meet_kubelet()),
    ]
    await asyncio.wait([*work, asyncio.create_task(stopped.wait())], return_when=asyncio.FIRST_COMPLETED)
    for task in work:
        task.cancel()
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


def _smi(folder: Path | None) -> Path | None:
    """SetupError where nothing can be put there."""
    if folder is None:
        return None
    try:
        return smi.install(folder.absolute())
    except OSError as error:
        problem = f"{folder}: {error.strerror}; give a folder to write to with --smi-dir"
        raise SetupError(problem) from error


def _xids(given: argparse.Namespace) -> health.Policy:
    try:
        return health.policy(given.disable_healthchecks, given.enable_healthchecks)
    except ValueError as error:
        problem = f"--disable-healthchecks, --enable-healthchecks: {error}; write XIDs, such as 48,79"
        raise SetupError(problem) from error


async def _api(given: argparse.Namespace) -> HttpApi:
    try:
        return HttpApi(await arguments.server(given.api, given.kubeconfig))
    except NoServerError as error:
        raise SetupError(str(error)) from error


def _narrate(beat: Beat) -> None:
    log.info("%s", beat.text)


if __name__ == "__main__":
    sys.exit(main())
