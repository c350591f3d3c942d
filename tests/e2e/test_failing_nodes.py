"""On steps: the node of a reserved place fails or fills up at any moment of a gang's start, which starts as a whole.

Members that are bound by then stay where they are: what becomes of them is not the gang's.
"""

from collections.abc import Callable
from contextlib import closing

import pytest

from gpuyard.groups import reservations
from gpuyard.writes import PatchType, Write
from tests.e2e import laws
from tests.e2e.storm import A100, NAMESPACE, Storm, container, pod, pod_group

NODES = [{"name": f"node-{number}", "gpus": {"model": A100, "count": 1}} for number in range(1, 4)]
MEMBERS = ("g-0", "g-1")
EACH = 12
"""Every so many steps of a start it is tried."""
SECONDS = 8.0
"""So long after it all members are bound: with one that was undone on the way."""
RESERVATIONS = reservations.path(NAMESPACE)


def cordon(storm: Storm, node: str) -> None:
    write = Write("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}}, PatchType.MERGE)
    storm.yard.clock.complete(storm.yard.api.send(write))


def injure(storm: Storm, node: str) -> None:
    storm.injure(node, 0, healthy=False)


def fill(storm: Storm, node: str) -> None:
    """Somebody past all schedulers, who has the GPU if he is there first."""
    intruder = pod("intruder", [container("main", "nvidia.com/gpu", 1)])
    storm.create({**intruder, "spec": {**intruder["spec"], "nodeName": node}})


def begun() -> Storm:
    """A gang of two that has just been created, on three nodes with a GPU each."""
    storm = Storm("", document={"nodes": NODES})
    storm.yard.settle()
    storm.create(pod_group("g", len(MEMBERS)))
    for name in MEMBERS:
        storm.create(pod(name, [container("main", "nvidia.com/gpu", 1)], group="g"))
    return storm


def nodes_of(storm: Storm) -> dict[str, str]:
    return {
        found["metadata"]["name"]: found["spec"]["nodeName"]
        for found in storm.pods()
        if found["spec"].get("nodeName") and found["metadata"]["name"] in MEMBERS
    }


def written(into: list[tuple[str, str]]) -> Callable[[str, Write], None]:
    return lambda _, write: into.append((write.method, write.path))


def undisturbed() -> tuple[str, int]:
    """The node of the first member when nothing fails, and after how many steps both are bound."""
    with closing(begun()) as storm:
        count = 0
        while len(nodes_of(storm)) < len(MEMBERS):
            assert list(storm.steps(1))
            count += 1
        return nodes_of(storm)["g-0"], count


@pytest.mark.parametrize("harm", [cordon, injure, fill])
def test_the_gang_starts_elsewhere_and_no_plan_is_made_again_and_again(
    harm: Callable[[Storm, str], None],
) -> None:
    node, steps = undisturbed()
    moved = 0
    for count in range(0, steps, EACH):
        with closing(begun()) as storm:
            half, writes = laws.HalfPlaced(), list[tuple[str, str]]()
            list(storm.steps(count))
            storm.yard.watchers.append(written(writes))
            harm(storm, node)
            for _ in storm.until(storm.now + SECONDS):
                assert list(half.look(storm, storm.pods())) == [], count
            places = nodes_of(storm)
            assert len(set(places.values())) == len(MEMBERS), (count, places)
            assert writes.count(("POST", RESERVATIONS)) <= 2, count
            moved += node not in places.values()
    assert moved * EACH > steps / 2
