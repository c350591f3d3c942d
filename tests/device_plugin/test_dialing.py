"""Calls to a kubelet: what it answers, and one clear error when it does not."""

import asyncio

import pytest

from gpuyard_device_plugin.dialing import KubeletPodResources, RegistrationError, register
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.ports import PodResourcesError
from tests.device_plugin.fakes import TinyKubelet, pod
from tests.device_plugin.grpc_kubelet import GrpcKubelet, short_folder


async def test_the_pods_of_the_node_are_listed() -> None:
    async with short_folder() as folder:
        pods = TinyKubelet()
        pods.listed.append(pod("a"))
        server = GrpcKubelet(folder, pods)
        await server.start()
        try:
            found = await KubeletPodResources(server.socket).list()
            assert [entry.name for entry in found.pod_resources] == ["a"]
        finally:
            await server.stop()


async def test_one_pod_is_asked_for_by_name_and_may_be_unknown() -> None:
    async with short_folder() as folder:
        pods = TinyKubelet()
        pods.listed.append(pod("a"))
        server = GrpcKubelet(folder, pods)
        await server.start()
        try:
            asked = KubeletPodResources(server.socket)
            found, unknown = await asyncio.gather(asked.get("default", "a"), asked.get("default", "b"))
            assert found is not None
            assert (found.name, unknown) == ("a", None)
        finally:
            await server.stop()


async def test_a_kubelet_that_is_not_there_is_named() -> None:
    async with short_folder() as folder:
        with pytest.raises(PodResourcesError, match=r"kubelet\.sock: UNAVAILABLE"):
            await KubeletPodResources(folder / "kubelet.sock").list()
        with pytest.raises(PodResourcesError, match=r"kubelet\.sock: UNAVAILABLE"):
            await KubeletPodResources(folder / "kubelet.sock").get("default", "a")
        with pytest.raises(RegistrationError, match=r"kubelet\.sock: UNAVAILABLE"):
            await register(folder / "kubelet.sock", kubelet.RegisterRequest())


async def test_a_refusal_is_told_in_the_kubelets_words() -> None:
    async with short_folder() as folder:
        server = GrpcKubelet(folder)
        server.refuse = True
        await server.start()
        try:
            with pytest.raises(RegistrationError, match="UNKNOWN: not now"):
                await register(server.socket, kubelet.RegisterRequest())
        finally:
            await server.stop()
