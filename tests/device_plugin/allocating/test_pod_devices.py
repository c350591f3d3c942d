"""Who holds what: truth beats what was given, and both beat the plan."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_device_plugin.allocating import node_pods
from gpuyard_device_plugin.allocating.pod_devices import Claim, Listed, PodDevices
from tests.device_plugin.fakes import pod

GPU = vocabulary.GPU


def state(*objects: JSON) -> PodDevices:
    found = [node_pods.read(obj) for obj in objects]
    return PodDevices().with_pods(entry for entry in found if entry is not None)


def running(obj: JSON, **truth: Sequence[str]) -> JSON:
    found = [
        {
            "name": c,
            "allocatedResourcesStatus": [{"name": GPU, "resources": [{"resourceID": i} for i in ids]}],
        }
        for c, ids in truth.items()
    ]
    return {**obj, "status": {"phase": "Running", "containerStatuses": found}}


def claim(name: str, container: str = "train") -> Claim:
    return Claim(f"uid-{name}", container, GPU)


def listed(name: str, **held: Sequence[str]) -> Listed:
    found: Mapping[str, Any] = {c: {GPU: tuple(ids)} if ids else {} for c, ids in held.items()}
    return Listed("default", name, found)


def test_an_open_plan_holds_nothing() -> None:
    assert state(pod("a", {"train": 1}, {"train": ["0"]})).holders() == {}


def test_what_was_given_is_held_until_the_pod_ends_or_goes() -> None:
    given = state(pod("a")).with_given(claim("a"), ["0"])
    assert given.holders() == {"0": {claim("a")}}
    ended = node_pods.read({**pod("a"), "status": {"phase": "Succeeded"}})
    assert ended is not None
    assert given.with_pod(ended).holders() == {}
    assert given.without_pod("uid-a").holders() == {}
    assert given.with_pods([]).given == {}


def test_truth_beats_what_was_given() -> None:
    wrong = state(running(pod("a"), train=["1"])).with_given(claim("a"), ["0"])
    assert wrong.holders() == {"1": {claim("a")}}


def test_init_containers_hold_their_plan_once_it_came_true() -> None:
    planned = pod("a", {"train": 1}, {"load": ["0", "1"], "train": ["0"]}, init={"load": 2})
    assert set(state(running(planned, train=["0"])).holders()) == {"0", "1"}
    assert set(state(running(planned, train=["5"])).holders()) == {"5"}


def test_the_kubelets_list_corrects_containers_and_leaves_hidden_ones_alone() -> None:
    both = state(pod("a", {"train": 1}, init={"load": 1}))
    both = both.with_given(claim("a", "load"), ["0"]).with_given(claim("a"), ["0"])
    corrected = both.with_listed([listed("a", train=["1"]), listed("stranger", train=["7"])])
    assert corrected.holders() == {"0": {claim("a", "load")}, "1": {claim("a")}}
    assert both.with_listed([listed("a", train=[])]).holders() == {"0": {claim("a", "load")}}


def test_containers_wait_in_the_kubelets_order() -> None:
    three = state(pod("a", {"x": 1, "y": 1}, init={"load": 1}))
    assert [want.container for want in three.waiting("uid-a", GPU)] == ["load", "x", "y"]
    begun = three.with_given(claim("a", "x"), ["0"])
    assert [want.container for want in begun.waiting("uid-a", GPU)] == ["y"]


def test_an_admitted_pod_waits_for_nothing() -> None:
    assert state(running(pod("a"))).waiting("uid-a", GPU) == ()


def test_only_init_containers_leave_devices_to_others() -> None:
    obj = pod("a", {"train": 1}, init={"load": 1, "log": 1})
    obj["spec"]["initContainers"][1]["restartPolicy"] = "Always"
    found = state(obj)
    reusable = [name for name in ("load", "log", "train") if found.is_reusable(claim("a", name))]
    assert reusable == ["load"]
