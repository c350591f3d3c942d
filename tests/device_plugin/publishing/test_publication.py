"""The node object says what is so: written once, again when somebody undoes it, and again after a failure."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_device_plugin.publishing.publication import Publication, difference
from tests.device_plugin.fakes import NODE, MemoryApi, gpus
from tests.stepping import settle

WHOLE = Inventory(gpus(2))
SHARED = Inventory(gpus(2), Sharing(SharingMode.TIME_SLICING, 4))
PATH = f"/api/v1/nodes/{NODE}"


@dataclass
class Scene:
    api: MemoryApi = field(default_factory=lambda: MemoryApi({"metadata": {"name": NODE}}))
    steps: Steps = field(default_factory=Steps)
    inventory: Inventory = WHOLE
    problem: str = ""

    def __post_init__(self) -> None:
        self.publication = Publication(NODE, self.api, self.steps, lambda: (self.inventory, self.problem))

    def write(self) -> None:
        self.steps.spawn(self.publication.write(), "publish")
        settle(self.steps)

    @property
    def node(self) -> JSON:
        return self.api.objects[PATH]


def test_a_second_write_is_not_needed() -> None:
    scene = Scene()
    scene.write()
    scene.write()
    assert len(scene.api.writes) == 1
    assert difference(scene.node, WHOLE) == {}


@pytest.mark.parametrize(
    "undo",
    [
        lambda metadata: metadata["annotations"].clear(),
        lambda metadata: metadata["labels"].pop("nvidia.com/gpu.product"),
        lambda metadata: metadata["labels"].update({"nvidia.com/gpu.count": "9"}),
    ],
)
def test_what_somebody_undoes_is_due_again(undo: Callable[[JSON], None]) -> None:
    scene = Scene()
    scene.write()
    undo(scene.node["metadata"])
    scene.publication.seen = scene.node
    assert scene.publication.is_due
    scene.write()
    assert not scene.publication.is_due
    assert difference(scene.node, WHOLE) == {}


def test_only_labels_that_its_own_inventory_explains_are_removed() -> None:
    scene = Scene(inventory=Inventory(gpus(2), mig_strategy=MigStrategy.MIXED))
    scene.write()
    scene.node["metadata"]["labels"] |= {"nvidia.com/mig.config": "all-disabled", "team": "a"}
    scene.publication.seen, scene.inventory = scene.node, SHARED
    scene.write()
    labels = scene.node["metadata"]["labels"]
    assert "nvidia.com/mig.strategy" not in labels
    assert (labels["nvidia.com/mig.config"], labels["team"]) == ("all-disabled", "a")
    assert labels["nvidia.com/gpu.replicas"] == "4"


def test_a_failed_write_is_tried_again_later_and_later() -> None:
    scene = Scene()
    scene.api.failures = 3
    scene.write()
    pauses = []
    while (when := scene.steps.next_at()) is not None:
        pauses.append(when - scene.steps.now())
        scene.steps.advance_to(when)
        settle(scene.steps)
    assert pauses == [0.5, 1.0, 2.0]
    assert vocabulary.INVENTORY in scene.node["metadata"]["annotations"]


def test_a_node_that_is_not_there_is_left_alone() -> None:
    scene = Scene(api=MemoryApi())
    scene.write()
    assert scene.steps.next_at() is None
    assert scene.api.writes == []


def test_a_bad_inventory_of_somebody_else_is_simply_replaced() -> None:
    node = {"metadata": {"name": NODE, "annotations": {vocabulary.INVENTORY: "[]"}, "labels": None}}
    assert difference(node, WHOLE)["metadata"]["annotations"].keys() == {vocabulary.INVENTORY}


def test_a_problem_of_the_configuration_is_said_on_the_node_until_it_is_mended() -> None:
    scene = Scene(problem="yard.yaml: nodes: missing")
    scene.write()
    assert scene.node["metadata"]["annotations"][vocabulary.CONFIG_PROBLEM] == "yard.yaml: nodes: missing"
    scene.publication.seen, scene.problem = scene.node, ""
    scene.write()
    assert vocabulary.CONFIG_PROBLEM not in scene.node["metadata"]["annotations"]
