"""kr8s, blocking and asynchronous, works on the embedded cluster as on any other."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import kr8s
import kr8s.asyncio
import pytest
from kr8s._async_utils import as_sync_func
from kr8s.asyncio.objects import ConfigMap as AsyncConfigMap
from kr8s.asyncio.objects import Pod as AsyncPod
from kr8s.objects import ConfigMap, Deployment, Pod, new_class

# Released before Kubernetes 1.36, it says so at each connection.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")
PATIENCE = 30
PodGroup = new_class("PodGroup", "scheduling.x-k8s.io/v1alpha1", asyncio=False)


def pod(name: str, **metadata: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    return {"metadata": {"name": name, "namespace": "default", **metadata}, "spec": spec}


def config(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": {"k": "v"}}


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[Any]:
    found: Any = kr8s.api(kubeconfig=str(kubeconfig))
    yield found
    as_sync_func(found._session.aclose)()  # nothing public closes it


@contextlib.asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Any]:
    api: Any = await kr8s.asyncio.api(kubeconfig=str(kubeconfig))
    yield api
    await api._session.aclose()


def test_a_pod_is_created_waited_for_and_deleted(api: Any) -> None:
    one = Pod(pod("one"), api=api)
    one.create()
    one.wait("condition=Ready", timeout=PATIENCE)
    assert one.status.phase == "Running"
    assert one.spec.nodeName in {node.name for node in api.get("nodes")}
    one.label({"seen": "yes"})
    assert [found.name for found in api.get("pods", namespace="default", label_selector="seen=yes")] == [
        "one"
    ]
    one.delete()
    one.wait("delete", timeout=PATIENCE)
    assert not one.exists()


def test_what_is_there_already_is_refused_with_the_server_s_status(api: Any) -> None:
    ConfigMap(config("twice"), api=api).create()
    with pytest.raises(kr8s.ServerError) as refusal:
        ConfigMap(config("twice"), api=api).create()
    assert refusal.value.response.status_code == 409
    with pytest.raises(kr8s.NotFoundError):
        ConfigMap.get("nowhere", namespace="default", api=api)


def test_a_deployment_is_scaled(api: Any) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = Deployment({"metadata": {"name": "web", "namespace": "default"}, "spec": spec}, api=api)
    web.create()
    web.wait("condition=Available", timeout=PATIENCE)
    pods = list(api.get("pods", namespace="default", label_selector="app=web"))
    assert [found.status.phase for found in pods] == ["Running", "Running"]
    web.scale(1)
    web.wait("jsonpath='{.status.replicas}'=1", timeout=PATIENCE)
    web.delete()
    web.wait("delete", timeout=PATIENCE)


def test_kinds_it_has_never_heard_of_are_found_by_discovery(api: Any) -> None:
    group = PodGroup({"metadata": {"name": "g", "namespace": "default"}, "spec": {"minMember": 2}}, api=api)
    group.create()
    (found,) = api.get("podgroups.scheduling.x-k8s.io", namespace="default")
    assert (found.name, found.spec.minMember) == ("g", 2)
    group.patch({"spec": {"minMember": 3}})
    group.refresh()
    assert group.spec.minMember == 3
    group.delete()


def test_it_watches_while_others_write(kubeconfig: Path) -> None:
    async def watched() -> list[tuple[str, str]]:
        seen: list[tuple[str, str]] = []
        async with asyncio.timeout(PATIENCE), connected(kubeconfig) as api:
            watched = await AsyncConfigMap(config("watched"), api=api)
            await watched.create()
            other = await AsyncConfigMap.get("watched", namespace="default", api=api)
            await other.patch({"data": {"k": "w"}})
            async for event, found in watched.watch():
                seen.append((event, found.data.k))
                if event == "DELETED":
                    break
                await other.delete()
        return seen

    assert asyncio.run(watched()) == [("MODIFIED", "w"), ("DELETED", "w")]


def test_pods_are_created_at_once_and_awaited(kubeconfig: Path) -> None:
    async def phases() -> set[str]:
        async with connected(kubeconfig) as api:
            crowd = [await AsyncPod(pod(f"crowd-{number}"), api=api) for number in range(4)]
            await asyncio.gather(*(each.create() for each in crowd))
            await asyncio.gather(*(each.wait("condition=Ready", timeout=PATIENCE) for each in crowd))
            found = {each.status.phase for each in crowd}
            await asyncio.gather(*(each.delete() for each in crowd))
            await asyncio.gather(*(each.wait("delete", timeout=PATIENCE) for each in crowd))
            return found

    assert asyncio.run(phases()) == {"Running"}
