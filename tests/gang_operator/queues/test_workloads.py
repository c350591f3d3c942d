"""What a group holds of its queue's quota, whatever else its pods do."""

import pytest

from gpuyard import vocabulary
from gpuyard.groups import queues
from gpuyard.writes import JSON
from tests.gang_operator.world import World


def container(name: str, gpus: int = 0, **fields: object) -> JSON:
    limits = {"cpu": "1", **({vocabulary.GPU: str(gpus)} if gpus else {})}
    return {"name": name, "image": "busybox:1.36", "resources": {"limits": limits}, **fields}


INIT: dict[str, list[JSON]] = {
    "none": [],
    "without GPUs": [container("fetch")],
    "with fewer GPUs": [container("warm", 1)],
    "with and without": [container("fetch"), container("warm", 2), container("check")],
    "beside all others": [container("log", restartPolicy="Always")],
}


@pytest.mark.parametrize("init", INIT)
def test_init_containers_change_nothing_of_what_a_group_holds(init: str) -> None:
    """And no GPUs of theirs are added to those of the containers that come after them."""
    world = World()
    world.node("node-1", gpus=8)
    world.queue("red", gpus=3)
    for name in ("first", "second"):
        world.group(name, queue="red", minMember=1)
        world.pod(name, gpus=2, group=name, initContainers=INIT[init])
        world.advance(1)
    assert set(world.bound()) == {"first"}
    assert "needs 2, 1 left of 3" in world.condition(name="second")["message"]
    queue = world.at(f"{queues.PATH}/red")
    assert queue is not None
    assert queue["status"]["used"] == {vocabulary.GPU: "2"}
