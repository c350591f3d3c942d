"""migStrategy dynamic, from the device list to the instances that are there."""

import random
from itertools import combinations

import pytest

from gpuyard import vocabulary
from gpuyard.annotations import read_inventory
from gpuyard.hardware.inventory import Device, MigStrategy
from gpuyard.writes import JSON
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.devices.on_demand import PATIENCE_SECONDS, TEAR_DOWN_SECONDS
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.service import AllocationRefusedError, NotReadyError, PluginSpec
from tests.device_plugin.fakes import NODE, gpus, pod
from tests.device_plugin.world import World
from tests.stepping import settle

CONFIG = PluginConfig(mig_strategy=MigStrategy.DYNAMIC)
ONE_G, THREE_G, FOUR_G = (f"nvidia.com/mig-{name}" for name in ("1g.5gb", "3g.20gb", "4g.20gb"))


class Yard(World):
    """One or more GPUs that are cut on demand."""

    def __init__(self, count: int = 1) -> None:
        super().__init__(PluginSpec(NODE, gpus(count), CONFIG))
        self.plugin.replace("pods", [])
        self.see_node()

    def see_node(self) -> None:
        self.plugin.observe("nodes", "MODIFIED", self.node)
        self.settle()

    @property
    def node(self) -> JSON:
        return self.api.objects[f"/api/v1/nodes/{NODE}"]

    @property
    def there(self) -> list[tuple[str, int]]:
        """Profile and start of the instances that the node says are there."""
        return [(device.profile, device.start) for device in instances(self)]

    def place(self, profile: str, start: int, gpu: int = 0) -> str:
        found = (
            d for d in self.plugin.inventory.devices() if (d.gpu, d.profile, d.start) == (gpu, profile, start)
        )
        return next(found).id

    def run_pod(self, name: str, profile: str, start: int) -> JSON:
        """A pod that was planned to get this instance; it has been admitted."""
        resource = vocabulary.mig_resource(profile)
        obj = pod(name, {"train": 1}, {"train": [self.place(profile, start)]}, resource=resource)
        self.admit(obj)
        self.see_node()
        return obj

    def end_pod(self, obj: JSON) -> None:
        self.kubelet.release(obj)
        self.api.remove(obj)
        self.plugin.observe("pods", "DELETED", obj)
        self.see_node()

    def later(self, seconds: float) -> None:
        settle(self.steps, self.steps.now() + seconds)
        self.see_node()

    def starting(self, *ids: str) -> list[str]:
        """A container with these devices is about to start: what becomes of that, as soon as it is known."""
        answers: list[str] = []

        async def call() -> None:
            try:
                await self.plugin.pre_start(kubelet.PreStartContainerRequest(devices_ids=ids))
                answers.append("starts")
            except NotReadyError as error:
                answers.append(str(error))

        self.steps.spawn(call(), "PreStartContainer")
        self.settle()
        return answers


def instances(yard: Yard) -> list[Device]:
    """The devices of which the node says that there is an instance."""
    found = read_inventory(yard.node["metadata"]["annotations"][vocabulary.INVENTORY])
    assert found is not None
    made = {instance.uuid for gpu in found.gpus for instance in gpu.instances}
    return [device for device in found.devices() if device.id in made]


def overlaps(yard: Yard) -> list[tuple[Device, Device]]:
    return [(one, other) for one, other in combinations(instances(yard), 2) if one.overlaps(other)]


def offered(world: World) -> dict[str, int]:
    return {resource: len(world.plugin.devices(resource)) for resource in world.plugin.resources}


def test_every_place_is_offered_and_the_whole_gpu_and_that_never_changes() -> None:
    yard = Yard()
    counts = offered(yard)
    assert counts[vocabulary.GPU] == 1
    assert (counts[ONE_G], counts["nvidia.com/mig-1g.5gb.me"], counts[THREE_G]) == (7, 7, 2)
    assert yard.there == []
    first = yard.run_pod("one", "3g.20gb", 4)
    assert offered(yard) == counts
    yard.end_pod(first)
    assert offered(yard) == counts


def test_an_instance_and_its_labels_are_there_for_as_long_as_a_pod_holds_it() -> None:
    yard = Yard()
    obj = yard.run_pod("one", "3g.20gb", 4)
    assert yard.kubelet.ids(obj, "train", THREE_G) == [yard.place("3g.20gb", 4)]
    assert yard.there == [("3g.20gb", 4)]
    labels = yard.node["metadata"]["labels"]
    assert labels["nvidia.com/mig-3g.20gb.count"] == "1"
    assert (labels["nvidia.com/mig.strategy"], labels["nvidia.com/gpu.replicas"]) == ("dynamic", "1")
    assert yard.kubelet.seen["train"]["GPUYARD_MIG_0_4"].startswith("3g.20gb|MIG-")
    yard.end_pod(obj)
    assert yard.there == [("3g.20gb", 4)]
    yard.later(TEAR_DOWN_SECONDS)
    assert yard.there == []
    assert "nvidia.com/mig-3g.20gb.count" not in yard.node["metadata"]["labels"]


def test_allocate_makes_the_instance_before_any_status_tells_of_it() -> None:
    yard = Yard()
    obj = pod("one", {"train": 1}, {"train": [yard.place("1g.5gb", 2)]}, resource=ONE_G)
    yard.api.put(obj)
    yard.plugin.observe("pods", "ADDED", obj)
    yard.run(yard.kubelet.admit(obj))
    yard.settle()
    assert yard.there == [("1g.5gb", 2)]


@pytest.mark.parametrize(
    ("resource", "profile", "start"),
    [(ONE_G, "1g.5gb", 5), (THREE_G, "3g.20gb", 4), (vocabulary.GPU, "", 0)],
    ids=["another profile", "the same place", "the whole GPU"],
)
def test_what_overlaps_a_live_pod_s_instance_is_refused_and_nothing_changes(
    resource: str, profile: str, start: int
) -> None:
    yard = Yard()
    yard.run_pod("holder", "3g.20gb", 4)
    before = yard.state(), yard.there
    wanted = kubelet.ContainerAllocateRequest(devices_ids=[yard.place(profile, start)])
    with pytest.raises(AllocationRefusedError, match="is held by pod default/holder, container train"):
        yard.run(yard.plugin.allocate(resource, kubelet.AllocateRequest(container_requests=[wanted])))
    yard.settle()
    assert (yard.state(), yard.there) == before


def test_places_of_one_request_that_overlap_are_refused() -> None:
    yard = Yard()
    wanted = [yard.place("1g.5gb+me", 0), yard.place("1g.5gb+me", 3)]
    request = kubelet.AllocateRequest(
        container_requests=[kubelet.ContainerAllocateRequest(devices_ids=wanted)]
    )
    with pytest.raises(AllocationRefusedError, match="devices overlap: MIG-"):
        yard.run(yard.plugin.allocate("nvidia.com/mig-1g.5gb.me", request))


def test_the_media_engines_are_given_once() -> None:
    yard = Yard()
    yard.run_pod("holder", "1g.5gb+me", 0)
    wanted = kubelet.ContainerAllocateRequest(devices_ids=[yard.place("1g.5gb+me", 3)])
    request = kubelet.AllocateRequest(container_requests=[wanted])
    with pytest.raises(AllocationRefusedError, match="held by pod default/holder"):
        yard.run(yard.plugin.allocate("nvidia.com/mig-1g.5gb.me", request))


def test_the_plugin_wants_to_be_asked_before_a_container_starts_only_where_it_cuts() -> None:
    assert Yard().plugin.options().pre_start_required
    assert not World().plugin.options().pre_start_required


def test_a_container_starts_when_the_instance_before_is_gone() -> None:
    yard = Yard()
    yard.end_pod(yard.run_pod("before", "4g.20gb", 0))
    yard.run_pod("after", "1g.5gb", 0)
    answers = yard.starting(yard.place("1g.5gb", 0))
    assert (answers, yard.there) == ([], [("4g.20gb", 0)])
    yard.later(TEAR_DOWN_SECONDS)
    assert (answers, yard.there) == (["starts"], [("1g.5gb", 0)])


def test_whoever_gets_the_whole_gpu_waits_for_that_too() -> None:
    yard = Yard()
    yard.end_pod(yard.run_pod("before", "1g.5gb", 3))
    answers = yard.starting(yard.spec.gpus[0].uuid)
    assert answers == []
    yard.later(TEAR_DOWN_SECONDS)
    assert answers == ["starts"]


def test_a_container_that_follows_nobody_starts_at_once() -> None:
    yard = Yard()
    yard.run_pod("beside", "1g.5gb", 6)
    yard.run_pod("one", "4g.20gb", 0)
    assert yard.starting(yard.place("4g.20gb", 0)) == ["starts"]
    assert yard.starting("unknown") == ["starts"]


def test_a_tear_down_that_takes_too_long_is_said_and_can_be_waited_for_again() -> None:
    yard = Yard()
    yard.end_pod(yard.run_pod("before", "4g.20gb", 0))
    yard.run_pod("after", "1g.5gb", 0)
    yard.report(0)
    answers = yard.starting(yard.place("1g.5gb", 0))
    yard.later(PATIENCE_SECONDS)
    assert answers == [
        "GPU 0 still has the MIG instance 4g.20gb at 0:4 after 5 s: the kubelet tries the start again"
    ]
    yard.report()
    assert yard.starting(yard.place("1g.5gb", 0)) == ["starts"]
    yard.see_node()
    assert yard.there == [("1g.5gb", 0)]


@pytest.mark.parametrize("pods_first", [True, False])
def test_a_plugin_that_starts_anew_finds_what_is_there(pods_first: bool) -> None:
    yard = Yard()
    kept, left = yard.run_pod("kept", "3g.20gb", 4), yard.run_pod("left", "1g.5gb", 0)
    yard.kubelet.release(left)
    yard.api.remove(left)
    yard.start()
    news = [("pods", [yard.kubelet.status(kept)]), ("nodes", [yard.node])]
    writes = len(yard.api.writes)
    for resource, objects in news if pods_first else reversed(news):
        yard.plugin.replace(resource, objects)
        yard.settle()
        assert len(yard.api.writes) == writes
    yard.later(TEAR_DOWN_SECONDS)
    assert yard.there == [("3g.20gb", 4)]


@pytest.mark.parametrize("seed", range(6))
def test_after_any_coming_and_going_there_is_what_live_pods_hold(seed: int) -> None:
    """The kubelet offers what it likes; whoever is refused holds nothing."""
    yard, chance = Yard(2), random.Random(seed)
    counts = offered(yard)
    live: list[JSON] = []
    refused = 0
    for number in range(30):
        if live and chance.random() < 0.4:
            yard.end_pod(live.pop(chance.randrange(len(live))))
        else:
            obj = pod(f"pod-{number}", {"train": 1}, resource=chance.choice(sorted(counts)))
            try:
                yard.admit(obj)
                live.append(obj)
            except AllocationRefusedError:
                refused += 1
                yard.end_pod(obj)
        yard.later(chance.choice([0.0, 0.4, TEAR_DOWN_SECONDS]))
        assert offered(yard) == counts
        assert not overlaps(yard)
    yard.later(TEAR_DOWN_SECONDS)
    held = {found for ids in yard.kubelet.held.values() for found in ids}
    assert refused
    assert {place.id for place in instances(yard)} == {found for found in held if found.startswith("MIG-")}
