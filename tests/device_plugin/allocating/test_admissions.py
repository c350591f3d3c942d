"""Whoever is admitted gets what was planned for it, and never what another pod holds."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard.writes import JSON
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.ports import PluginSpec, PodResourcesError
from gpuyard_device_plugin.service import AllocationRefusedError
from tests.device_plugin.fakes import NODE, gpus, pod, sliced
from tests.device_plugin.world import World


def test_the_planned_ids_are_given() -> None:
    world = World()
    planned = pod("a", {"train": 2}, {"train": world.ids(6, 3)})
    world.admit(planned)
    assert world.indexes(planned) == [3, 6]
    assert world.kubelet.seen["train"]["NVIDIA_VISIBLE_DEVICES"] == ",".join(world.ids(3, 6))
    assert world.told[-1] == f"{NODE}: Allocate for default/a train: nvidia.com/gpu 2 on GPU 3, 6"


def test_each_container_gets_its_own_part_of_the_plan() -> None:
    world = World()
    two = pod("a", {"x": 1, "y": 2}, {"x": world.ids(7), "y": world.ids(0, 5)})
    world.admit(two)
    assert (world.indexes(two, "x"), world.indexes(two, "y")) == ([7], [0, 5])


def test_without_a_plan_the_best_set_is_preferred_and_other_plans_are_left_alone() -> None:
    world = World()
    waiting = pod("waiting", {"train": 1}, {"train": world.ids(1)})
    world.plugin.observe("pods", "ADDED", waiting)
    free = pod("free", {"train": 4})
    world.admit(free)
    assert world.indexes(free) == [4, 5, 6, 7]
    world.admit(waiting)
    assert world.indexes(waiting) == [1]


def test_a_plan_of_which_a_part_is_lost_keeps_the_rest() -> None:
    world = World()
    thief = pod("thief", {"train": 1}, {"train": world.ids(2)})
    victim = pod("victim", {"train": 2}, {"train": world.ids(2, 6)})
    world.admit(thief, victim)
    assert world.indexes(victim) == [4, 6]


def test_a_pod_that_the_watch_has_not_told_of_is_asked_for_once() -> None:
    world = World()
    unseen = pod("unseen", {"train": 1}, {"train": world.ids(5)})
    world.api.put(unseen)
    world.run(world.kubelet.admit(unseen))
    assert world.indexes(unseen) == [5]
    assert world.api.reads == ["/api/v1/namespaces/default/pods/unseen"]


def test_a_pod_of_the_same_name_is_not_taken_for_the_one_before_it() -> None:
    world = World()
    old = pod("web-0", {"train": 1}, {"train": world.ids(5)}, uid="old")
    world.admit(old)
    world.kubelet.release(old)
    new = pod("web-0", {"train": 1}, {"train": world.ids(3)}, uid="new")
    world.api.put(new)
    world.run(world.kubelet.admit(new))
    assert world.indexes(new) == [3]


def test_app_containers_may_get_what_init_containers_leave_behind() -> None:
    world = World()
    both = pod("a", {"train": 1}, {"load": world.ids(4, 5), "train": world.ids(4)}, init={"load": 2})
    world.admit(both)
    assert world.indexes(both, "load") == [4, 5]
    assert set(world.indexes(both, "train")) < {4, 5}
    assert "default/a train" in world.told[-1]


def test_an_init_containers_devices_stay_with_the_pod() -> None:
    world = World()
    world.admit(pod("a", {"train": 0}, {"load": world.ids(4)}, init={"load": 1}))
    world.kubelet.forgotten.update(world.ids(4))
    intruder = pod("b", {"train": 1}, {"train": world.ids(4)})
    world.admit(intruder)
    assert world.indexes(intruder) != [4]


def test_ids_that_a_live_pod_holds_are_refused_even_when_the_kubelet_offers_them() -> None:
    world = World(PluginSpec(NODE, gpus(1)))
    first, second = pod("first"), pod("second")
    world.admit(first)
    world.kubelet.forgotten.update(world.ids(0))
    with pytest.raises(AllocationRefusedError, match="held by pod default/first, container train"):
        world.admit(second)
    world.kubelet.release(second)
    world.api.remove(first)
    world.plugin.observe("pods", "DELETED", first)
    world.admit(pod("third"))


def test_a_holder_that_is_gone_but_for_the_watch_does_not_stop_the_next_pod() -> None:
    world = World(PluginSpec(NODE, gpus(1)))
    first = pod("first")
    world.admit(first)
    world.kubelet.release(first)
    world.api.remove(first)
    second = pod("second")
    world.admit(second)
    assert world.indexes(second) == [0]


def test_a_plugin_without_memory_still_knows_who_holds_what() -> None:
    world = World(PluginSpec(NODE, gpus(2)))
    first, second = pod("first", {"train": 1}, {"train": world.ids(1)}), pod("second")
    world.admit(first)
    world.start()
    world.plugin.replace("pods", [world.kubelet.status(first)])
    world.kubelet.forgotten.update(world.ids(1))
    world.admit(second)
    assert world.indexes(second) == [0]


def test_without_preference_the_kubelet_takes_what_it_likes() -> None:
    got = set()
    for seed in range(8):
        world = World(PluginSpec(NODE, gpus(), prefer=False))
        world.kubelet.random.seed(seed)
        planned = pod("a", {"train": 1}, {"train": world.ids(0)})
        world.admit(planned)
        got |= set(world.indexes(planned))
    assert len(got) > 1
    assert not world.plugin.options().get_preferred_allocation_available


def test_without_preference_the_one_open_plan_with_these_ids_names_the_pod() -> None:
    world = World(PluginSpec(NODE, gpus(1), prefer=False))
    world.admit(pod("a", {"train": 1}, {"train": world.ids(0)}))
    assert "default/a train" in world.told[-1]


def test_shares_are_spread_and_named_once() -> None:
    world = World(PluginSpec(NODE, gpus(2), sliced(4)))
    world.admit(pod("a"), pod("b"))
    third = pod("c", {"train": 2})
    world.admit(third)
    assert world.indexes(third) == [0, 1]
    assert world.kubelet.seen["train"]["NVIDIA_VISIBLE_DEVICES"] == ",".join(world.ids(0, 1))


@pytest.mark.parametrize("order", [("big", "small"), ("small", "big")])
def test_limits_follow_the_pod_whoever_is_admitted_first_and_over_a_restart(order: tuple[str, str]) -> None:
    world = World(PluginSpec(NODE, gpus(1), sliced(10, SharingMode.MPS)))
    pods = {}
    for number, (name, milli) in enumerate({"big": "500", "small": "125"}.items()):
        pods[name] = pod(name, {"train": 1}, {"train": [f"{world.ids(0)[0]}::{number}"]})
        pods[name]["metadata"]["annotations"][vocabulary.GPU_MILLI] = milli
        world.plugin.observe("pods", "ADDED", pods[name])
    for name in order:
        world.admit(pods[name])
        sees = world.kubelet.seen["train"]
        memory = {"big": 20480, "small": 5120}[name]
        assert sees["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == f"0={memory}M"
        assert f"|{memory}|" in sees["GPUYARD_GPU_0"], "nvidia-smi shows it, too"
    found = {holder.pod: holder.limits.milli for held in world.plugin.holders().values() for holder in held}
    assert found == {"big": 500, "small": 125}
    admitted = [world.kubelet.status(obj) for obj in pods.values()]
    world.start()
    world.plugin.replace("pods", admitted)
    assert {(h.pod, h.limits.milli) for held in world.plugin.holders().values() for h in held} == set(
        found.items()
    )


def test_a_kubelet_that_does_not_answer_costs_the_plan_and_nothing_else() -> None:
    world = World()

    async def silent() -> Any:
        raise PodResourcesError("connection refused")

    world.kubelet.list = silent  # type: ignore[method-assign]
    unplanned = pod("a", {"train": 4})
    world.admit(unplanned)
    assert world.indexes(unplanned) == [0, 1, 2, 3]
    assert any("connection refused" in text for text in world.told)


MIG = tuple(
    dataclasses.replace(
        gpu,
        mig_enabled=True,
        instances=tuple(Instance("1g.5gb", i, 1, f"MIG-{gpu.index}-{i}") for i in range(3)),
    )
    for gpu in gpus(2)
)
SPECS = {
    vocabulary.GPU: PluginSpec(NODE, gpus(5)),
    vocabulary.GPU_SHARED: PluginSpec(
        NODE, gpus(2), PluginConfig(sharing=Sharing(SharingMode.TIME_SLICING, 3, renamed=True))
    ),
    vocabulary.mig_resource("1g.5gb"): PluginSpec(NODE, MIG, PluginConfig(MigStrategy.MIXED)),
}


class Life:
    """Pods come and go on one node; the model of who holds what is the test's own."""

    def __init__(self, resource: str, seed: int) -> None:
        self.resource, self.world, self.live = resource, World(SPECS[resource]), dict[str, JSON]()
        self.world.kubelet.random.seed(seed)
        self.sick: set[int] = set()
        self.number = 0

    def do(self, what: str, number: int) -> None:
        {"admit": self.admit, "end": self.end, "restart": self.restart, "race": self.race, "ill": self.ill}[
            what
        ](number)
        self.check()

    def admit(self, number: int) -> None:
        self.number += 1
        healthy = [d.ID for d in self.world.plugin.devices(self.resource) if d.health == "Healthy"]
        free = [d for d in healthy if d not in self.held() or d in self.world.kubelet.forgotten]
        count = min(number % 3 + 1, len(free))
        plan = {"train": sorted(free)[:count]} if number % 2 else None
        init = {"load": count} if number % 5 == 0 else None
        obj = pod(f"p{self.number}", {"train": count}, plan, init=init, resource=self.resource)
        before, taken = self.believed(), set(self.held())
        try:
            self.world.admit(obj)
        except AllocationRefusedError:
            self.world.plugin.observe("pods", "DELETED", obj)
            assert self.believed() == before, "a refusal has changed something"
        else:
            self.live[obj["metadata"]["uid"]] = obj
            if count and plan and not init and not taken & set(plan["train"]):
                ids = self.world.kubelet.ids(obj, "train", self.resource)
                assert sorted(ids) == plan["train"], "a plan that could come true did not"

    def end(self, number: int) -> None:
        for uid in sorted(self.live)[number % 3 :][:1]:
            obj = self.live.pop(uid)
            self.world.kubelet.release(obj)
            self.world.api.remove(obj)
            if number % 2:
                self.world.plugin.observe("pods", "DELETED", obj)

    def restart(self, _number: int) -> None:
        self.world.start()
        self.world.report(*self.sick)
        self.world.plugin.replace("pods", [self.world.kubelet.status(obj) for obj in self.live.values()])

    def race(self, _number: int) -> None:
        self.world.kubelet.forgotten = set(self.held())

    def ill(self, number: int) -> None:
        self.sick ^= {number % 2}
        self.world.report(*self.sick)

    def held(self) -> list[str]:
        """Every id with every pod that holds it: containers of one pod may follow one another."""
        return [
            device
            for uid in self.live
            for device in {
                d for (owner, _, _), ids in self.world.kubelet.held.items() if owner == uid for d in ids
            }
        ]

    def believed(self) -> set[tuple[str, str]]:
        """The ids of live pods as the plugin knows them."""
        holders = self.world.state().holders()
        return {(d, claim.uid) for d, claims in holders.items() for claim in claims if claim.uid in self.live}

    def check(self) -> None:
        assert len(self.held()) == len(set(self.held())), "two owners of one device"


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(sorted(SPECS)),
    st.integers(0, 99),
    st.lists(
        st.tuples(st.sampled_from(["admit", "admit", "end", "restart", "race", "ill"]), st.integers(0, 29)),
        max_size=30,
    ),
)
def test_no_device_ever_has_two_owners_and_plans_come_true_where_they_can(
    resource: str, seed: int, events: list[tuple[str, int]]
) -> None:
    life = Life(resource, seed)
    for what, number in events:
        life.do(what, number)
