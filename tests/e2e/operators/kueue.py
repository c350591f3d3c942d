"""Gangs whose pods name a queue of Kueue's: it decides when one may start, GPUYard where; both hold it till then."""

from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON
from tests.e2e.operators.gangs import Place, runs_as_a_whole, scheduled
from tests.e2e.stories.cluster import until

QUOTA = 2
"""Of the GPUs of the cluster."""
GATES: Final = [vocabulary.GANG_GATE, "kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"]
"""Ours, and those by which Kueue holds the pods of a group."""
_API: Final = "apis/kueue.x-k8s.io/v1beta2"
_PODS, _GROUPS = "api/v1 pods", f"apis/{vocabulary.POD_GROUP_API} podgroups"
_WORKLOADS: Final = f"{_API} workloads"
"""Kueue names one after the group; whoever deletes it deletes the pods."""


async def open_queue(place: Place) -> None:
    """A way into the quota for the pods of this namespace."""
    quota = {"name": "any", "resources": [{"name": vocabulary.GPU, "nominalQuota": QUOTA}]}
    groups = [{"coveredResources": [vocabulary.GPU], "flavors": [quota]}]
    cluster_queue = {"namespaceSelector": {}, "resourceGroups": groups}
    await place.create(f"/{_API}/resourceflavors", _queueing("ResourceFlavor", "any"))
    await place.create(f"/{_API}/clusterqueues", _queueing("ClusterQueue", "gpus", cluster_queue))
    await place.submit(f"{_API} localqueues", _queueing("LocalQueue", "team", {"clusterQueue": "gpus"}))


def _queueing(kind: str, name: str, spec: JSON | None = None) -> JSON:
    metadata = {"name": name}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec or {}}


async def gather(place: Place, group: str, pods: int, gpus: int) -> None:
    """A gang, which Kueue takes for a group of pods as well."""
    head = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup", "metadata": {"name": group}}
    await place.submit(_GROUPS, {**head, "spec": {"minMember": pods}})
    labels = {
        vocabulary.POD_GROUP: group,
        "kueue.x-k8s.io/queue-name": "team",
        "kueue.x-k8s.io/pod-group-name": group,
    }
    annotations = {"kueue.x-k8s.io/pod-group-total-count": str(pods)}
    for index in range(pods):
        await submit(place, f"{group}-{index}", gpus, labels=labels, annotations=annotations)


async def submit(place: Place, name: str, gpus: int, **metadata: JSON) -> None:
    """A pod that works until it is deleted."""
    container = {
        "name": "main",
        "image": "busybox:1.36",
        "command": ["sleep", "3600"],
        "resources": {"limits": {vocabulary.GPU: gpus}},
    }
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    await place.submit(_PODS, {"metadata": {"name": name, **metadata}, "spec": spec})


async def gates(place: Place, group: str) -> list[list[str]]:
    return [
        sorted(gate["name"] for gate in pod["spec"].get("schedulingGates") or ())
        for pod in await place.members(group)
    ]


async def one_after_the_other(place: Place) -> None:
    """Two gangs, each of which needs the whole quota, on a cluster that has room for both."""
    await open_queue(place)
    await gather(place, "first", pods=2, gpus=1)
    await runs_as_a_whole(place, "first", members=2, gpus=2)
    await gather(place, "second", pods=2, gpus=1)

    async def is_told() -> bool:
        said = scheduled(await place.group("second")).get("message", "")
        return "2 more held by scheduling gates of others" in said

    await until(is_told, lambda: f"the PodGroup says who holds its pods\n{place.running.told()}")
    assert await gates(place, "second") == [GATES] * 2
    await place.delete(_WORKLOADS, "first")
    await runs_as_a_whole(place, "second", members=2, gpus=2)
    await place.delete(_WORKLOADS, "second")

    async def all_gone() -> bool:
        return not await place.members("first") + await place.members("second")

    await until(all_gone, lambda: f"all pods are gone\n{place.running.told()}")
