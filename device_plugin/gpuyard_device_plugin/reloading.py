"""Follows its configuration: files and labels of the node are looked at again and again.

Stands for the reload on SIGHUP of NVIDIA's plugin together with its config-manager. A kubelet changes a mounted
ConfigMap by swapping a symbolic link, which no watch on the files themselves sees: polling sees every change.
Law: what cannot be used changes nothing; it is logged once and said on the node until it is mended.
"""

import asyncio
import logging
from pathlib import Path
from typing import Final

from gpuyard import vocabulary
from gpuyard_device_plugin import assembly, files
from gpuyard_device_plugin.assembly import SetupError
from gpuyard_device_plugin.config import config_files
from gpuyard_device_plugin.containers import cdi
from gpuyard_device_plugin.ports import PluginSpec, Sources
from gpuyard_device_plugin.service import DevicePlugin

log = logging.getLogger("gpuyard.device_plugin")

POLL_SECONDS: Final = 1.0
_LABELS: Final = (vocabulary.YARD_NODE, vocabulary.PLUGIN_CONFIG)


class Reloading:
    """Keeps a plugin to its `sources`, and the CDI specification in `cdi_folder` to the plugin."""

    def __init__(self, plugin: DevicePlugin, sources: Sources, cdi_folder: Path) -> None:
        self._plugin, self._sources, self._cdi_folder = plugin, sources, cdi_folder
        self._looked_at: object = None
        self._problem = ""

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(POLL_SECONDS)

    def look(self) -> None:
        """Follow what has changed since the last look."""
        found = self._state()
        if found == self._looked_at:
            return
        self._looked_at = found
        try:
            spec = self._spec()
            if spec != self._plugin.spec:
                self._plugin.reconfigure(spec)
                log.info("the configuration has changed: %s", self._sources.yard)
            cdi.write(self._cdi_folder, cdi.specification(self._plugin.inventory, spec.config))
        except SetupError as error:
            self._tell(str(error))
        except OSError as error:
            self._tell(f"{self._cdi_folder}: {error.strerror}; give a folder to write to with --cdi-dir")
        else:
            self._tell("")

    def _state(self) -> object:
        """Equal as long as nothing has changed."""
        sources = self._sources
        configured = sources.config
        if configured is not None and configured.is_dir():
            looked_at = config_files.files_of(configured)
        else:
            looked_at = [configured] if configured is not None else []
        labels = ((self._plugin.seen or {}).get("metadata") or {}).get("labels") or {}
        return (
            [(path, files.identity(path)) for path in (sources.yard, *looked_at)],
            [labels.get(key) for key in _LABELS],
            self._plugin.seen is None,
        )

    def _spec(self) -> PluginSpec:
        """What the plugin is to be; before the node was heard of, what it is."""
        node = self._plugin.seen
        if node is None:
            return self._plugin.spec
        sources = self._sources
        return assembly.plugin_spec(node, sources.yard, sources.yard_node, sources.config)

    def _tell(self, problem: str) -> None:
        if problem and problem != self._problem:
            log.error("%s: the last good configuration stays in force", problem)
        if problem != self._problem:
            self._plugin.report(problem)
        self._problem = problem
