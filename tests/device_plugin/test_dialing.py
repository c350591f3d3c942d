"""Calls to a kubelet: what it answers, and one clear error when it does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gpuyard_device_plugin.dialing import KubeletPodResources, RegistrationError, register
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.ports import PodResourcesError
from tests.device_plugin.fakes import TinyKubelet, pod
from tests.device_plugin.grpc_kubelet import GrpcKubelet, short_folder


@asynccontextmanager
async def served() -> AsyncIterator[GrpcKubelet]:
    """A kubelet with one pod."""
    pods = TinyKubelet()
    pods.listed.append(pod("a"))
    async with short_folder() as folder:
        server = GrpcKubelet(folder, pods)
        await server.start()
        try:
            yield server
        finally:
            await server.stop()


async def test_the_pods_of_the_node_are_listed() -> None:
    async with served() as server:
        found = await KubeletPodResources(server.socket).list()
        assert [entry.name for entry in found.pod_resources] == ["a"]


async def test_one_pod_is_asked_for_by_name_and_may_be_unknown() -> None:
    async with served() as server:
        asked = KubeletPodResources(server.socket)
        found, unknown = await asyncio.gather(asked.get("default", "a"), asked.get("default", "b"))
        assert found is not None
        assert (found.name, unknown) == ("a", None)


async def test_a_kubelet_that_is_not_there_is_named() -> None:
    async with short_folder() as folder:
        with pytest.raises(PodResourcesError, match=r"kubelet\.sock: UNAVAILABLE"):
            await KubeletPodResources(folder / "kubelet.sock").list()
        with pytest.raises(PodResourcesError, match=r"kubelet\.sock: UNAVAILABLE"):
            await KubeletPodResources(folder / "kubelet.sock").get("default", "a")
        with pytest.raises(RegistrationError, match=r"kubelet\.sock: UNAVAILABLE"):
            await register(folder / "kubelet.sock", kubelet.RegisterRequest())


async def test_a_refusal_is_told_in_the_kubelets_words() -> None:
    async with served() as server:
        server.refuse = True
        with pytest.raises(RegistrationError, match="UNKNOWN: not now"):
            await register(server.socket, kubelet.RegisterRequest())
