"""What a cluster goes through, and what must be true all the same."""

import asyncio
from collections.abc import Awaitable, Callable

from gpuyard import vocabulary
from gpuyard_cli.extender_proxy import ExtenderProxy
from tests.e2e.kind.cluster import Cluster, empty, faults, held, until

Story = Callable[[Cluster], Awaitable[None]]


def play(kubeconfig: str, namespace: str, story: Story) -> None:
    async def whole() -> None:
        async with empty(kubeconfig, namespace) as cluster:
            await story(cluster)

    asyncio.run(whole())


async def explained(cluster: Cluster, name: str) -> str:
    """The reason code of a pod that waits; empty when there is none yet."""
    reply = await ExtenderProxy(cluster.api).ask(f"/v1/pods/{cluster.namespace}/{name}/explain")
    return str(reply.body.get("code") or "")


def test_of_30_pods_on_24_gpus_24_run_and_6_say_why(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        names = [f"one-{n}" for n in range(30)]
        await asyncio.gather(*map(cluster.submit, names))

        async def settled() -> bool:
            pods = (await cluster.pods()).values()
            waiting = [pod["metadata"]["name"] for pod in pods if not pod["spec"].get("nodeName")]
            running = [pod for pod in pods if pod["status"]["phase"] == "Running" and held(pod)]
            codes = [await explained(cluster, name) for name in waiting]
            return len(running) == 24 and codes == ["InsufficientGPUs"] * 6

        await until(settled, "24 of 30 run, 6 wait for a GPU")
        assert faults((await cluster.pods()).values()) == []

    play(kubeconfig, "crowd", story)


def test_a_container_sees_just_the_devices_that_were_planned(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        await cluster.submit("two", gpus=2)
        pods = await cluster.running(["two"])

        async def printed() -> bool:
            lines = [line for line in await cluster.log("two") if line.startswith("NVIDIA_VISIBLE_DEVICES=")]
            return [set(line.partition("=")[2].split(",")) for line in lines] == [held(pods["two"])]

        await until(printed, "the container prints the ids that its status names")
        assert len(held(pods["two"])) == 2
        assert faults(pods.values()) == []

    play(kubeconfig, "sight", story)


def test_extenders_that_die_while_pods_are_bound_leave_nothing_double_and_nothing_behind(
    kubeconfig: str,
) -> None:
    async def story(cluster: Cluster) -> None:
        names = [f"one-{n}" for n in range(24)]
        await asyncio.gather(*map(cluster.submit, names[:8]))
        await asyncio.gather(cluster.kill(vocabulary.EXTENDER), *map(cluster.submit, names[8:]))
        pods = await cluster.running(names)
        assert faults(pods.values()) == []

    play(kubeconfig, "extender-dies", story)


def test_device_plugins_that_die_come_back_with_the_same_devices(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        first, second = [f"early-{n}" for n in range(3)], [f"late-{n}" for n in range(21)]
        await asyncio.gather(*map(cluster.submit, first))
        before = await cluster.running(first)
        await cluster.kill(vocabulary.DEVICE_PLUGIN)
        await until(lambda: _plugins_ready(cluster), "the device plugins are back")
        await asyncio.gather(*map(cluster.submit, second))
        after = await cluster.running([*first, *second])
        assert [held(after[name]) for name in first] == [held(before[name]) for name in first]
        assert faults(after.values()) == []

    play(kubeconfig, "plugin-dies", story)


def test_an_operator_that_dies_while_it_lets_a_gang_go_is_followed_by_one_that_ends_it(
    kubeconfig: str,
) -> None:
    async def story(cluster: Cluster) -> None:
        groups = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{cluster.namespace}/podgroups"
        await cluster.create(
            groups,
            {
                "apiVersion": vocabulary.POD_GROUP_API,
                "kind": "PodGroup",
                "metadata": {"name": "ring"},
                "spec": {"minMember": 12},
            },
        )
        names = [f"ring-{n}" for n in range(12)]
        await asyncio.gather(*(cluster.submit(name, group="ring") for name in names))

        async def begun() -> bool:
            return any(not pod["spec"].get("schedulingGates") for pod in (await cluster.pods()).values())

        await until(begun, "the first gate has fallen")
        await cluster.kill(vocabulary.OPERATOR)
        pods = await cluster.running(names)
        assert faults(pods.values()) == []

    play(kubeconfig, "operator-dies", story)


async def _plugins_ready(cluster: Cluster) -> bool:
    path = f"/apis/apps/v1/namespaces/{vocabulary.NAMESPACE}/daemonsets/{vocabulary.DEVICE_PLUGIN}"
    status = (await cluster.api.read(path)).body["status"]
    return bool(status.get("numberReady") == status["desiredNumberScheduled"] == 3)
