"""What the plugin says of itself over HTTP.

Stands for the health and metrics port that most device plugins have. Law: it is asked and changes nothing.
"""

from collections.abc import Callable, Mapping

import orjson

from gpuyard.auditing import accounts
from gpuyard_device_plugin.metrics import Metrics
from gpuyard_device_plugin.service import DevicePlugin
from gpuyard_kube.metrics import PATH
from gpuyard_kube.serving import JSON_TEXT, Handler, Page


def pages(plugin: DevicePlugin, ready: Callable[[], bool]) -> Mapping[str, Handler]:
    """The pages by path. `ready`: whether the kubelet watches every resource."""

    async def livez() -> Page:
        return Page(b"ok")

    async def readyz() -> Page:
        return Page(b"ok") if ready() else Page(b"the kubelet does not watch every resource", status=503)

    async def told() -> Page:
        return Page(orjson.dumps(accounts.node_to_json(await plugin.accounts())), JSON_TEXT)

    return {"/livez": livez, "/readyz": readyz, PATH: Metrics(plugin).page, accounts.PLUGIN_PATH: told}
