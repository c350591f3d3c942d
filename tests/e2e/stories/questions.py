"""Stories of people who ask: whether something would fit, and why it does not."""

from typing import Any

from gpuyard import vocabulary
from gpuyard.auditing.accounts import LEDGER_PATH
from gpuyard.groups import queues
from gpuyard.writes import JSON, PatchType, Write
from tests.e2e.stories.cluster import Cluster, held, node_of, until


async def what_would_fit_is_told_and_comes_true_and_asking_holds_nothing(cluster: Cluster) -> None:
    old = ["old-0", "old-1"]
    for name in old:
        await cluster.submit(name, gpus=8)
    await cluster.running(old)
    before = await cluster.hands.ask(LEDGER_PATH)
    outcome = await simulated(cluster, job(cluster.namespace, parallelism=2))
    assert (outcome["fits"], len(outcome["placed"]), outcome["code"]) == (False, 1, "InsufficientGPUs")
    remedies = {remedy["kind"]: remedy for remedy in outcome["remedies"]}
    assert remedies["Fewer"]["text"].startswith("ask for ")
    assert remedies["MoreNodes"]["text"].startswith("add 1 node like ")
    assert remedies["Ends"]["pods"][0].removeprefix(f"{cluster.namespace}/") in old
    assert (await cluster.hands.ask(LEDGER_PATH)).body == before.body
    [place] = (await simulated(cluster, job(cluster.namespace, parallelism=1)))["placed"]
    await cluster.submit("new", gpus=8)
    new = (await cluster.running(["new"]))["new"]
    assert (node_of(new), sorted(held(new))) == (
        place["node"],
        sorted(place["devices"]["main"][vocabulary.GPU]),
    )


async def a_gang_is_judged_by_what_its_queue_has_left(cluster: Cluster) -> None:
    queue: JSON = {"apiVersion": f"{vocabulary.GROUP}/{vocabulary.VERSION}", "kind": "Queue"}
    queue |= {"metadata": {"name": cluster.namespace}, "spec": {"quota": {vocabulary.GPU: 3}}}
    await cluster.create(queues.PATH, queue)
    try:
        first, *members = gang(cluster, "first")
        await cluster.create(cluster.groups, first)
        for member in members:
            await cluster.create(cluster.path, member)
        await cluster.running([member["metadata"]["name"] for member in members])
        known = list[JSON]()

        async def counted() -> bool:
            known[:] = await cluster.items(queues.PATH)
            said = [found.get("status", {}).get("used", {}).get(vocabulary.GPU) for found in known]
            return "2" in map(str, said)

        await until(counted, "the queue's status says that 2 GPUs are used")
        outcome = await simulated(cluster, *gang(cluster, "next"), queues=known)
        assert (outcome["code"], outcome["detail"]) == (
            "QuotaExceeded",
            f"queue {cluster.namespace}: {vocabulary.GPU}: needs 2, 1 left of 3",
        )
        larger = {**queue, "spec": {"quota": {vocabulary.GPU: 4}}}
        assert (await simulated(cluster, larger, *gang(cluster, "next"), queues=known))["fits"]
    finally:
        await cluster.api.send(Write("DELETE", f"{queues.PATH}/{cluster.namespace}"))


async def a_pod_that_only_the_extender_refuses_is_told_why_by_one_event(cluster: Cluster) -> None:
    wish = {vocabulary.GPU_MODEL: "H100"}
    await cluster.create(cluster.path, {"metadata": {"name": "picky", "annotations": wish}, "spec": spec(1)})

    async def told() -> bool:
        return bool(await events(cluster, "picky"))

    await until(told, "an event says why the pod waits")
    await cluster.submit("other")  # a change that makes the scheduler try the pod again
    await cluster.running(["other"])
    [event] = await events(cluster, "picky")
    assert (event["reason"], event["type"]) == ("GPUModelMismatch", "Warning")
    assert await cluster.hands.code(cluster.namespace, "picky") == "GPUModelMismatch"


async def what_cannot_be_a_share_is_refused_by_the_name_of_its_annotation(cluster: Cluster) -> None:
    asked = {"of-nothing": (0, "300"), "too-much": (1, "1500"), "of-a-whole-gpu": (1, "300")}
    for name, (gpus, milli) in asked.items():
        metadata = {"name": name, "annotations": {vocabulary.GPU_MILLI: milli}}
        await cluster.create(cluster.path, {"metadata": metadata, "spec": spec(gpus)})

    metadata = {"name": "of-no-gpu", "annotations": {vocabulary.GPU_MILLI: "300"}}
    containers = [{"name": "main", "image": "busybox:1.36"}]
    reply = await cluster.api.send(
        Write("POST", cluster.path, {"metadata": metadata, "spec": {"containers": containers}})
    )
    assert (reply.status, vocabulary.GPU_MILLI in reply.reason) == (422, True), reply.reason

    async def refused() -> bool:
        told = [event for name in asked for event in await events(cluster, name)]
        return len(told) == len(asked)

    await until(refused, "an event for each says why it waits")
    for name in asked:
        [event] = await events(cluster, name)
        assert event["reason"] == await cluster.hands.code(cluster.namespace, name) == "InvalidRequest"
        assert not node_of((await cluster.pods())[name])
        # Whether GPUs are whole only a node can say: then the explanation has the words.
        assert name == "of-a-whole-gpu" or event["message"].startswith(vocabulary.GPU_MILLI), event["message"]


async def what_a_pod_may_use_of_its_gpu_stays_as_it_was_bound(cluster: Cluster) -> None:
    await cluster.submit("holder")
    await cluster.running(["holder"])
    for notes, status in (({vocabulary.GPU_MILLI: "1"}, 422), ({"example.com/other": "1"}, 200)):
        change = {"metadata": {"annotations": notes}}
        reply = await cluster.api.send(Write("PATCH", f"{cluster.path}/holder", change, PatchType.MERGE))
        assert reply.status == status, reply.reason


def spec(gpus: int) -> JSON:
    limits = {vocabulary.GPU: str(gpus)}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}
    return {"terminationGracePeriodSeconds": 1, "containers": [container]}


def job(namespace: str, parallelism: int) -> JSON:
    """Pods with 8 GPUs each."""
    template = {"spec": {**spec(8), "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": namespace},
        "spec": {"parallelism": parallelism, "template": template},
    }


def gang(cluster: Cluster, name: str) -> list[JSON]:
    """A PodGroup in the queue that has the name of the namespace, and its two pods with a GPU each."""
    group: JSON = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup", "spec": {"minMember": 2}}
    marks = {"namespace": cluster.namespace, "annotations": {vocabulary.QUEUE: cluster.namespace}}
    group |= {"metadata": {"name": name, **marks}}
    member = {"namespace": cluster.namespace, "labels": {vocabulary.POD_GROUP: name}}
    pods = [{"name": f"{name}-{number}", **member} for number in range(2)]
    return [group, *({"kind": "Pod", "metadata": metadata, "spec": spec(1)} for metadata in pods)]


async def simulated(cluster: Cluster, *objects: JSON, **more: Any) -> dict[str, Any]:
    reply = await cluster.hands.ask("/v1/simulations", {"objects": objects, **more})
    assert reply.ok, reply.body
    [outcome] = reply.body["outcomes"]
    return dict(outcome)


async def events(cluster: Cluster, pod: str) -> list[JSON]:
    """What the extender has told of a pod."""
    found = await cluster.items(cluster.events)
    about = [event for event in found if event["involvedObject"].get("name") == pod]
    return [event for event in about if event.get("reportingComponent") == vocabulary.EXTENDER]
