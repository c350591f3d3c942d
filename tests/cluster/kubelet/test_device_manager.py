from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.device_manager import (
    AllocationError,
    Choice,
    Devices,
    Holding,
    Request,
    choose,
    next_request,
    open_choice,
)
from tests.cluster.small_api import pod

CHIP = "example.com/chip"


def devices(*ids: str, sick: tuple[str, ...] = ()) -> Devices:
    return Devices({}, frozenset(), ()).with_list(
        CHIP, {**dict.fromkeys(ids, True), **dict.fromkeys(sick, False)}
    )


def container(name: str, count: object, **more: Any) -> JSON:
    return {"name": name, "resources": {"limits": {CHIP: count}}, **more}


def pod_of(*containers: JSON, init: tuple[JSON, ...] = ()) -> JSON:
    made = pod("p", containers=list(containers), initContainers=list(init))
    made["metadata"]["uid"] = "uid"
    return made


def served(wanted: JSON, state: Devices, random: Random) -> Devices:
    while (request := next_request(wanted, state)) is not None:
        ids = choose(open_choice(request, state, random), (), random)
        state = state.holding(Holding(request.pod, request.container, request.resource, ids, {}))
    return state


def test_only_registered_resources_and_whole_positive_counts_are_requests() -> None:
    odd = {"name": "odd", "resources": {"limits": {"cpu": "1", "example.com/other": "1"}}}
    wanted = pod_of(odd, container("zero", "0"), container("bad", "1.5"), container("two", "2"))
    assert next_request(wanted, devices("a", "b")) == Request("uid", "two", CHIP, 2)


def test_containers_are_served_in_kubelet_order_and_reuse_what_init_containers_had() -> None:
    wanted = pod_of(
        container("app", "2"),
        init=(
            container("first", "1"),
            container("side", "1", restartPolicy="Always"),
            container("second", "1"),
        ),
    )
    state = served(wanted, devices("a", "b", "c", "d"), Random(3))
    held = {found.container: set(found.ids) for found in state.of_pod("uid")}
    assert list(held) == ["first", "side", "second", "app"]
    assert held["side"] == held["first"], "a sidecar may use an ended init container's device"
    assert held["side"].isdisjoint(held["app"] | held["second"]), "and keeps it"
    assert held["second"] < held["app"]


def test_preferred_ids_are_a_hint() -> None:
    choice = Choice(certain=("m",), available=("a", "b", "c"), missing=2)
    assert set(choose(choice, ["c", "x", "c", "m", "b", "a"], Random(0))) == {"m", "c", "b"}
    assert {choose(choice, [], Random(seed))[0] for seed in range(20)} > {"m"}, "in no order"


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), st.integers(0, 3), st.booleans()), max_size=20)
)
def test_free_plus_held_is_always_all(events: list[tuple[int, int, int, bool]]) -> None:
    every = tuple(f"d{number}" for number in range(8))
    state, random = devices(*every), Random(1)
    for number, count, init, ends in events:
        wanted = pod_of(container("app", str(count)), init=(container("init", str(init)),))
        wanted["metadata"]["uid"] = uid = f"pod-{number}"
        try:
            state = served(wanted, state, random)
        except AllocationError:
            state = state.kept_by({held.pod for held in state.holdings} - {uid})
        if ends:
            state = state.kept_by({held.pod for held in state.holdings} - {uid})
        owners: dict[str, str] = {}
        for held in state.holdings:
            for device in held.ids:
                assert owners.setdefault(device, held.pod) == held.pod
        assert sorted([*owners, *state.free(CHIP)]) == sorted(every)
