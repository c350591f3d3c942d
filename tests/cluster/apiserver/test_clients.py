"""Unmodified clients against the API server: what they need is what it is for."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import kopf
import kubernetes
import pytest
from kubernetes import client, dynamic, watch
from kubernetes.informer import ADDED, DELETED, SharedInformer
from kubernetes.leaderelection.leaderelectionrecord import LeaderElectionRecord
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from gpuyard_cluster.apiserver.http import serve
from tests.cluster.apiserver.calling import Caller, config, definition, pod, widget

PATIENCE = 20.0


@pytest.fixture
def served() -> Iterator[tuple[Caller, str]]:
    """A server on a loop of its own thread, for clients that block."""
    api, ready, urls = Caller(), threading.Event(), list[str]()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        listener = await serve(api.server)
        urls.append(listener.url)
        ready.set()
        await stop.wait()
        await listener.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    assert ready.wait(PATIENCE)
    yield api, urls[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(PATIENCE)
    loop.close()
    assert not thread.is_alive()


@pytest.fixture
def connection(served: tuple[Caller, str]) -> Iterator[Any]:
    with client.ApiClient(client.Configuration(host=served[1])) as found:
        yield found


def test_typed_client_writes_reads_and_watches(connection: Any) -> None:
    core = client.CoreV1Api(connection)
    core.create_namespaced_pod("default", pod("a"))
    core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "y"}}})
    target = client.V1ObjectReference(kind="Node", name="n1")
    body = client.V1Binding(metadata=client.V1ObjectMeta(name="a"), target=target)
    core.create_namespaced_pod_binding("a", "default", body, _preload_content=False)
    (found,) = core.list_namespaced_pod("default", field_selector="spec.nodeName=n1").items
    assert found.metadata.labels == {"x": "y"}
    core.delete_namespaced_pod("a", "default", grace_period_seconds=0)
    stale = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="c", resource_version="2"))
    core.create_namespaced_config_map("default", config("c"))
    with pytest.raises(kubernetes.client.ApiException) as refusal:
        core.replace_namespaced_config_map("c", "default", stale)
    assert refusal.value.status == 409
    events = watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=1)
    assert [event["type"] for event in events] == ["ADDED"]


def test_dynamic_client_discovers_and_applies_custom_resources(connection: Any) -> None:
    extensions = client.ApiextensionsV1Api(connection)
    extensions.create_custom_resource_definition(definition())
    widgets = dynamic.DynamicClient(connection).resources.get(api_version="example.com/v1", kind="Widget")
    applied = widgets.server_side_apply(widget("a", size=1), "a", "default", field_manager="tester")
    assert applied.metadata.managedFields[0].manager == "tester"
    assert [item.spec.size for item in widgets.get(namespace="default").items] == [1]


def test_the_informer_follows(served: tuple[Caller, str], connection: Any) -> None:
    core, seen, gone = client.CoreV1Api(connection), threading.Event(), threading.Event()
    informer = SharedInformer(core.list_namespaced_config_map, "default")
    informer.add_event_handler(ADDED, lambda obj: seen.set())
    informer.add_event_handler(DELETED, lambda obj: gone.set())
    informer.start()
    core.create_namespaced_config_map("default", config("a"))
    assert seen.wait(PATIENCE)
    core.delete_namespaced_config_map("a", "default")
    assert gone.wait(PATIENCE)
    informer.stop()


def test_a_lock_on_a_lease_is_won_once(connection: Any) -> None:
    lock = LeaseLock("leader", "default", "me")
    lock.api_instance = client.CoordinationV1Api(connection)
    now = str(datetime.now(UTC))
    record = LeaderElectionRecord("me", "15", now, now)
    assert lock.create("leader", "default", record)
    assert not lock.create("leader", "default", record)
    held, found = lock.get("leader", "default")
    assert (held, found.holder_identity) == (True, "me")
    assert lock.update("leader", "default", LeaderElectionRecord("you", "15", now, now))


def operator_of(url: str) -> kopf.OperatorRegistry:
    """An operator that reports each widget's size and lets it go with a finalizer."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def log_in(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=url)

    @kopf.on.create("widgets", registry=registry)
    async def created(spec: Any, patch: Any, **_: Any) -> None:
        patch.status["seen"] = spec["size"]

    @kopf.on.delete("widgets", registry=registry)
    async def deleted(**_: Any) -> None:
        pass

    return registry


def test_kopf_handles_custom_resources(served: tuple[Caller, str], connection: Any) -> None:
    client.ApiextensionsV1Api(connection).create_custom_resource_definition(definition())
    ready, stop = threading.Event(), threading.Event()
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    registry = operator_of(served[1])

    def operate() -> None:
        asyncio.run(
            kopf.operator(
                registry=registry,
                settings=settings,
                ready_flag=ready,
                stop_flag=stop,
                standalone=True,
                clusterwide=True,
            )
        )

    operator = threading.Thread(target=operate)
    operator.start()
    assert ready.wait(PATIENCE)
    widgets = client.CustomObjectsApi(connection)
    where = ("example.com", "v1", "default", "widgets")
    widgets.create_namespaced_custom_object(*where, widget("a", size=3))
    stream = watch.Watch().stream(
        widgets.list_namespaced_custom_object, *where, timeout_seconds=int(PATIENCE)
    )
    event = next(event for event in stream if event["object"].get("status", {}).get("seen") == 3)
    assert event["object"]["metadata"]["finalizers"], "kopf asks to be told of the deletion"
    widgets.delete_namespaced_custom_object(*where, "a")
    assert any(event["type"] == "DELETED" for event in stream)
    stop.set()
    operator.join(PATIENCE)
    assert not operator.is_alive()
