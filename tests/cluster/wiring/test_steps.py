"""The cluster on the stepped clock: parts start, die and come back, nodes appear, pods are explained."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from gpuyard import yard
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.steps import StepsYard
from gpuyard_device_plugin.config.config import InvalidConfigError

A100 = "NVIDIA-A100-SXM4-40GB"
PODS = "/api/v1/namespaces/default/pods"
NODES = yard.parse(
    {
        "nodes": [
            {"name": "node-1", "gpus": {"model": A100, "count": 2}},
            {"name": "node-2", "gpus": {"model": A100, "count": 4}, "joins": "later"},
        ]
    }
)
PARTS = [
    "controllers",
    "extender",
    "garbage collector",
    "kubelet node-1",
    "namespace controller",
    "operator",
    "plugin node-1",
    "scheduler",
]


@contextlib.contextmanager
def settled(nodes: tuple[yard.YardNode, ...] = NODES, options: Options = Options()) -> Iterator[StepsYard]:
    with contextlib.closing(StepsYard(nodes, options)) as cluster:
        cluster.settle()
        yield cluster


def create(cluster: StepsYard, name: str, gpus: int) -> None:
    container = {"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    pod = {"metadata": {"name": name}, "spec": {"containers": [container]}}
    assert cluster.clock.complete(cluster.api.send(Write("POST", PODS, pod))).ok


def send(cluster: StepsYard, method: str, path: str, body: JSON | None = None) -> Any:
    return cluster.clock.complete(cluster.api.send(Write(method, path, body)))


def read(cluster: StepsYard, path: str) -> Any:
    return cluster.clock.complete(cluster.api.read(path)).body


def phase(cluster: StepsYard, name: str) -> str:
    return str(read(cluster, f"{PODS}/{name}")["status"]["phase"])


def allocatable(cluster: StepsYard) -> dict[str, str]:
    nodes: list[JSON] = read(cluster, "/api/v1/nodes")["items"]
    return {
        node["metadata"]["name"]: node["status"]["allocatable"].get("nvidia.com/gpu", "0") for node in nodes
    }


def test_every_part_of_the_first_nodes_runs_from_the_beginning() -> None:
    with settled() as cluster:
        assert sorted(cluster.parts) == PARTS
        assert allocatable(cluster) == {"node-1": "2"}


def test_a_node_appears_when_it_is_told_to_join() -> None:
    with settled() as cluster:
        create(cluster, "large", 4)
        cluster.settle()
        assert phase(cluster, "large") == "Pending"
        cluster.join("node-2")
        cluster.settle()
        assert allocatable(cluster) == {"node-1": "2", "node-2": "4"}
        assert phase(cluster, "large") == "Running"


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_died_goes_on_where_it_was(part: str) -> None:
    with settled() as cluster:
        create(cluster, "before", 1)
        cluster.settle()
        old = cluster.parts[part]
        cluster.restart(part)
        assert cluster.parts[part].service is not old.service
        assert not old.scope.alive()
        create(cluster, "after", 1)
        cluster.settle()
        assert (phase(cluster, "before"), phase(cluster, "after")) == ("Running", "Running")
        assert allocatable(cluster) == {"node-1": "2"}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_may_die_before_it_has_done_anything(part: str) -> None:
    with contextlib.closing(StepsYard(NODES)) as cluster:
        create(cluster, "early", 2)
        cluster.restart(part)
        while cluster.pass_on() and phase(cluster, "early") != "Running":
            pass
        assert phase(cluster, "early") == "Running"


def test_a_kubelet_that_died_still_knows_what_its_containers_hold() -> None:
    with settled() as cluster:
        create(cluster, "one", 1)
        cluster.settle()
        before = read(cluster, f"{PODS}/one/log")
        cluster.restart("kubelet node-1")
        cluster.settle()
        (pod,) = cluster.parts["kubelet node-1"].service.pod_resources().pod_resources
        assert [len(found.devices) for found in pod.containers] == [1]
        assert read(cluster, f"{PODS}/one/log") == before


def test_a_plugin_that_died_is_gone_for_its_kubelet_until_it_registers_anew() -> None:
    told = list[str]()
    with settled(options=Options(narrate=lambda beat: told.append(beat.text))) as cluster:
        told.clear()
        cluster.restart("plugin node-1")
        cluster.settle()
        assert told[0] == "device plugin for nvidia.com/gpu is gone"
        assert "device plugin registered for nvidia.com/gpu" in told
        assert allocatable(cluster) == {"node-1": "2"}


def test_an_injured_gpu_is_not_offered() -> None:
    with settled() as cluster:
        sick = {"metadata": {"annotations": {"gpuyard.io/xid-0": "79"}}}
        cluster.clock.complete(
            cluster.api.send(Write("PATCH", "/api/v1/nodes/node-1", sick, PatchType.MERGE))
        )
        cluster.settle()
        assert allocatable(cluster) == {"node-1": "1"}


def test_a_waiting_pod_is_explained_and_others_are_not_known() -> None:
    with settled() as cluster:
        create(cluster, "large", 3)
        cluster.settle()
        explained = cluster.explain("default", "large")
        assert explained is not None
        assert explained["code"] == "InsufficientGPUs"
        assert [found["node"] for found in explained["nodes"]] == ["node-1"]
        assert cluster.explain("default", "absent") is None


def test_logs_are_those_of_the_pods_node() -> None:
    with settled() as cluster:
        create(cluster, "one", 1)
        assert read(cluster, f"{PODS}/one/log")["code"] == 400
        cluster.settle()
        assert "NVIDIA_VISIBLE_DEVICES=GPU-" in read(cluster, f"{PODS}/one/log")["message"]


def test_watchers_are_told_who_wrote() -> None:
    with settled() as cluster:
        writers = set[str]()
        cluster.watchers.append(lambda part, _write: writers.add(part))
        create(cluster, "one", 1)
        cluster.settle()
        assert writers == {"extender", "kubelet node-1", "scheduler"}


def test_time_moves_only_from_event_to_event() -> None:
    with settled() as cluster:
        began = cluster.clock.now()
        assert not cluster.pass_on(), "a cluster at rest has no event to come"
        assert cluster.clock.now() == began
        assert cluster.step() is None


def test_two_clusters_of_one_seed_are_the_same_to_the_last_byte() -> None:
    def state(seed: int) -> Any:
        with settled(options=Options(seed=seed)) as cluster:
            create(cluster, "one", 1)
            cluster.settle()
            return read(cluster, PODS), read(cluster, "/api/v1/nodes"), read(cluster, "/api/v1/events")

    assert state(7) == state(7)
    assert state(7) != state(8), "uids differ"


def test_a_plugin_configuration_that_cannot_be_used_is_refused_at_once() -> None:
    node = {"name": "a", "gpus": {"model": A100, "count": 1}, "plugin": {"version": "v9"}}
    with pytest.raises(InvalidConfigError, match="version: 'v9' is unknown; use v1"):
        StepsYard(yard.parse({"nodes": [node]}))


def test_the_dependents_of_a_new_custom_resource_go_with_their_owner() -> None:
    group = "widgets.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    definition = {"metadata": {"name": f"widgets.{group}"}, "spec": spec}
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
    widgets = f"/apis/{group}/v1/namespaces/default/widgets"
    with settled() as cluster:
        assert send(cluster, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).ok
        uid = send(cluster, "POST", "/api/v1/namespaces/default/configmaps", owner).body["metadata"]["uid"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
        widget = {
            "apiVersion": f"{group}/v1",
            "kind": "Widget",
            "metadata": {"name": "w", "ownerReferences": [reference]},
        }
        assert send(cluster, "POST", widgets, widget).ok
        cluster.settle()
        assert len(read(cluster, widgets)["items"]) == 1
        assert send(cluster, "DELETE", "/api/v1/namespaces/default/configmaps/owner").ok
        cluster.settle()
        assert read(cluster, widgets)["items"] == []
