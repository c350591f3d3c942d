"""What a plugin is made of: its settings, and the ports through which it reaches out.

Stands for the kubelet as the plugin sees it (`PodResources`); the ports to the API server and to time are shared.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gpuyard.hardware.gpus import GPU
from gpuyard.narration import Narrator, silent
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """What a plugin is to be: `node` is the name of the Node object."""

    node: str
    gpus: tuple[GPU, ...]
    config: PluginConfig = PluginConfig()
    prefer: bool = True
    """Offer GetPreferredAllocation. Without it the kubelet takes any free ids, and plans do not come true."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a plugin's settings come from: the yard, which of its nodes to play, and NVIDIA's config or a folder."""

    yard: Path
    yard_node: str | None = None
    config: Path | None = None


class PodResourcesError(Exception):
    """The kubelet does not answer: go on without knowing whose admission it is."""


class PodResources(Protocol):
    """The kubelet's pod-resources API."""

    async def list(self) -> podresources.ListPodResourcesResponse:
        """All active pods of the node with the devices of their containers, or PodResourcesError."""

    async def get(self, namespace: str, name: str) -> podresources.PodResources | None:
        """One of them; None when the kubelet knows no such pod. PodResourcesError when it does not answer."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything through which a plugin reaches out."""

    api: Api
    runtime: Runtime
    pod_resources: PodResources
    narrate: Narrator = silent
    smi: Path | None = None
    """The script nvidia-smi on the host. None where containers run no programs."""
