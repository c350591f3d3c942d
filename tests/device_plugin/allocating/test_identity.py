"""The pod in hand is found by what waits; without a list, by what is open."""

from gpuyard import vocabulary
from gpuyard_device_plugin.allocating.identity import Hand, claimant, doubtful, in_hand, open_claims
from gpuyard_device_plugin.allocating.pod_devices import Claim
from tests.device_plugin.allocating.test_pod_devices import claim, listed, running, state
from tests.device_plugin.fakes import pod

GPU = vocabulary.GPU


def test_the_pod_with_a_waiting_container_is_in_hand() -> None:
    found = state(pod("a"), pod("b"), pod("cpu", {"train": 0}))
    entries = [listed("a", train=["0"]), listed("cpu", train=[]), listed("b", train=[])]
    assert in_hand(found.with_listed(entries), entries, GPU, 1, ["1"]) == claim("b")


def test_bound_pods_that_the_kubelet_does_not_list_yet_do_not_count() -> None:
    found = state(pod("a"), pod("b"))
    assert in_hand(found, [listed("b", train=[])], GPU, 1, ["1"]) == claim("b")


def test_the_next_container_of_that_size_is_meant() -> None:
    found = state(pod("a", {"x": 1, "y": 2}))
    entries = [listed("a", x=["0"], y=[])]
    assert in_hand(found.with_listed(entries), entries, GPU, 2, ["1", "2"]) == claim("a", "y")
    assert in_hand(found.with_listed(entries), entries, GPU, 3, ["1", "2", "3"]) is None


def test_where_init_containers_hide_the_plan_decides_and_then_the_order() -> None:
    first, second = (
        pod(n, {"train": 0}, {"load": [i]}, init={"load": 1}) for n, i in (("a", "0"), ("b", "1"))
    )
    entries = [listed("a", train=[]), listed("b", train=[])]
    assert in_hand(state(first, second), entries, GPU, 1, ["0", "2"]) == claim("a", "load")
    assert in_hand(state(first, second), entries, GPU, 1, ["2"]) == claim("b", "load")


def test_pods_that_are_unknown_or_served_but_listed_bare_are_in_doubt() -> None:
    found = state(running(pod("served"), train=["0"]), pod("waits"), pod("cpu", {"train": 0}))
    entries = [listed(name, train=[]) for name in ("served", "waits", "cpu", "unknown")]
    assert [entry.name for entry in doubtful(found, entries, GPU)] == ["served", "unknown"]


def test_a_hand_explains_only_what_was_offered_to_it() -> None:
    hand = Hand(claim("a"), 1, frozenset({"0", "1"}))
    assert hand.explains(GPU, ["1"])
    assert not hand.explains(GPU, ["2"])
    assert not hand.explains(GPU, ["0", "1"])
    assert not hand.explains("nvidia.com/mig-1g.5gb", ["1"])


def test_ids_of_an_init_container_belong_to_its_pod_when_that_was_served_last() -> None:
    found = state(pod("a", {"train": 1}, init={"load": 2}), pod("b"))
    found = found.with_given(claim("a", "load"), ["0", "1"])
    assert claimant(found, "uid-a", GPU, ["1"]) == claim("a")
    assert claimant(found, "uid-b", GPU, ["1"]) is None
    assert claimant(found, "gone", GPU, ["1"]) is None


def test_the_one_open_plan_with_exactly_these_ids_is_meant() -> None:
    found = state(pod("a", {"train": 2}, {"train": ["0", "1"]}), pod("b", {"train": 1}, {"train": ["0"]}))
    assert claimant(found, None, GPU, ["1", "0"]) == claim("a")
    assert claimant(found, None, GPU, ["5"]) is None


def test_two_plans_with_the_same_ids_name_nobody() -> None:
    found = state(pod("a", {"train": 1}, {"train": ["0"]}), pod("b", {"train": 1}, {"train": ["0"]}))
    assert claimant(found, None, GPU, ["0"]) is None
    assert claimant(found.with_given(claim("a"), ["3"]), None, GPU, ["0"]) == claim("b")


def test_everything_that_waits_is_open() -> None:
    found = state(pod("a", {"x": 1, "y": 1}), running(pod("b")))
    assert list(open_claims(found)) == [Claim("uid-a", "x", GPU), Claim("uid-a", "y", GPU)]
