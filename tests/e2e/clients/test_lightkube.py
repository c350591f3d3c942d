"""lightkube works on the embedded cluster as on any other: typed, generic, server-side apply, watches."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube import ApiError, AsyncClient, Client, KubeConfig
from lightkube.generic_resource import create_namespaced_resource, load_in_cluster_generic_resources
from lightkube.models.core_v1 import Container, PodSpec, ResourceRequirements
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ConfigMap, Node, Pod
from lightkube.types import PatchType

PodGroup: Any = create_namespaced_resource("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups")


@pytest.fixture(scope="module")
def config(kubeconfig: Path) -> KubeConfig:
    return KubeConfig.from_file(str(kubeconfig))


@pytest.fixture
def client(config: KubeConfig) -> Iterator[Client]:
    with Client(config, field_manager="tests") as found:
        yield found


def pod(name: str) -> Pod:
    main = Container(
        "main", image="busybox:1.36", resources=ResourceRequirements(limits={"nvidia.com/gpu": "1"})
    )
    spec = PodSpec([main], terminationGracePeriodSeconds=1)
    return Pod(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def test_a_typed_pod_runs_and_goes(client: Client) -> None:
    client.create(pod("one"))
    client.wait(Pod, "one", for_conditions=["Ready"])
    one = client.get(Pod, "one")
    assert one.spec.nodeName in {node.metadata.name for node in client.list(Node)}
    assert one.status.containerStatuses[0].state.running.startedAt
    client.delete(Pod, "one", grace_period=0)
    with pytest.raises(ApiError) as refusal:
        client.get(Pod, "one")
    assert (refusal.value.status.code, refusal.value.status.reason) == (404, "NotFound")


def test_every_field_that_the_server_fills_in_is_one_that_the_types_know(client: Client) -> None:
    for node in client.list(Node):
        assert node.status.capacity["nvidia.com/gpu"] == "2"
        assert node.to_dict()["metadata"]["name"] == node.metadata.name


def test_it_applies_with_ownership_of_fields(client: Client) -> None:
    applied = client.apply(config_map("applied", a="1", b="2"))
    assert [entry.operation for entry in applied.metadata.managedFields] == ["Apply"]
    assert client.apply(config_map("applied", a="1")).data == {"a": "1"}
    with pytest.raises(ApiError) as refusal:
        client.apply(config_map("applied", a="other"), field_manager="somebody")
    assert refusal.value.status.details.causes[0].reason == "FieldManagerConflict"
    taken = client.apply(config_map("applied", a="other"), field_manager="somebody", force=True)
    assert taken.data == {"a": "other"}


def test_generic_resources_have_their_status_apart(client: Client) -> None:
    metadata = ObjectMeta(name="g", namespace="default")
    client.apply(PodGroup(metadata=metadata, spec={"minMember": 2}))
    client.patch(PodGroup, "g", {"spec": {"minMember": 3}}, patch_type=PatchType.MERGE)
    client.patch(
        PodGroup.Status,
        "g",
        {"status": {"occupiedBy": "x"}, "spec": {"minMember": 9}},
        patch_type=PatchType.MERGE,
    )
    found = client.get(PodGroup, "g")
    assert (found.spec["minMember"], found.status["occupiedBy"]) == (3, "x")
    client.delete(PodGroup, "g")


def test_it_learns_kinds_from_the_cluster_s_definitions(client: Client) -> None:
    load_in_cluster_generic_resources(client)
    names = {found.metadata.name for found in client.list(CustomResourceDefinition)}
    assert "podgroups.scheduling.x-k8s.io" in names


def test_long_lists_come_in_chunks(client: Client) -> None:
    for number in range(5):
        client.apply(
            ConfigMap(metadata=ObjectMeta(name=f"c-{number}", namespace="default", labels={"many": ""}))
        )
    found = client.list(ConfigMap, labels={"many": ""}, chunk_size=2)
    assert [each.metadata.name for each in found] == [f"c-{number}" for number in range(5)]


def test_it_watches_from_a_list_on(config: KubeConfig) -> None:
    async def watched() -> list[tuple[str, str]]:
        seen: list[tuple[str, str]] = []
        async with AsyncClient(config) as client:
            before = await client.create(config_map("watched", k="0"))
            version = before.metadata.resourceVersion
            await client.patch(ConfigMap, "watched", {"data": {"k": "1"}})
            await client.delete(ConfigMap, "watched")
            fields = {"metadata.name": "watched"}
            async for event, found in client.watch(ConfigMap, fields=fields, resource_version=version):
                seen.append((event, found.data["k"]))
                if event == "DELETED":
                    break
        return seen

    assert asyncio.run(watched()) == [("MODIFIED", "1"), ("DELETED", "1")]
