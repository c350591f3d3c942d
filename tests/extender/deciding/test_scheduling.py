"""Filter and Prioritize as functions of the ledger."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.placing.cluster import Placement
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Reason
from gpuyard_extender.deciding import scheduling
from gpuyard_extender.deciding.scheduling import Filtered
from gpuyard_extender.ledger import pods
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from tests.extender.builders import gpu_node, gpu_pod


def ledger_of(**gpus: int) -> Ledger:
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node(name, count) for name, count in gpus.items()])
    return ledger


def read(**more: object) -> Pod:
    obj = gpu_pod("a")
    obj["spec"] |= more
    pod = pods.read(obj)
    assert pod is not None
    return pod


@settings(deadline=None, max_examples=40)
@given(gpus=st.lists(st.integers(0, 4), min_size=1, max_size=6), policy=st.sampled_from(["pack", "spread"]))
def test_ranks_are_distinct_and_nodes_that_cannot_take_the_pod_come_last(
    gpus: list[int], policy: str
) -> None:
    ledger = ledger_of(**{f"n{i}": count for i, count in enumerate(gpus)})
    names = [f"n{i}" for i in range(len(gpus))]
    ranks = scheduling.prioritize(read(), names, ledger, POLICIES[policy], 0.0)
    assert sorted(ranks.values()) == list(range(1, len(gpus) + 1))
    fits = [ranks[name] for name, count in zip(names, gpus, strict=True) if count]
    unfit = [ranks[name] for name, count in zip(names, gpus, strict=True) if not count]
    assert not unfit or not fits or min(fits) > max(unfit)


def test_ties_go_by_name_and_preferred_affinity_goes_before_the_policy() -> None:
    ledger = ledger_of(b=2, a=2, c=1)
    assert scheduling.prioritize(read(), ["b", "a", "c"], ledger, POLICIES["spread"], 0.0) == {
        "a": 3,
        "b": 2,
        "c": 1,
    }
    wish = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": wish}]}
    pod = read(affinity={"nodeAffinity": preferred})
    ranks = scheduling.prioritize(pod, ["b", "a", "c"], ledger, POLICIES["spread"], 0.0)
    assert ranks == {"c": 3, "a": 2, "b": 1}


def test_a_node_that_has_not_been_seen_is_rejected_not_lost() -> None:
    filtered = scheduling.filter_nodes(read(), ["ghost"], ledger_of(a=1), 0.0)
    assert filtered == Filtered((), {Reason.NODE_NOT_READY: ("ghost",)})


def test_a_node_that_is_named_twice_is_asked_about_once() -> None:
    ledger, names = ledger_of(a=1, b=0), ["b", "a", "ghost", "a", "b", "ghost"]
    filtered = scheduling.filter_nodes(read(), names, ledger, 0.0)
    assert filtered.passed == ("a",)
    assert filtered.rejected[Reason.NODE_NOT_READY] == ("ghost",)
    ranks = scheduling.prioritize(read(), names, ledger, POLICIES["spread"], 0.0)
    assert ranks == {"a": 3, "b": 2, "ghost": 1}


def test_a_node_that_goes_or_comes_back_between_filter_and_prioritize_is_no_longer_where_it_was() -> None:
    ledger, names = ledger_of(a=1, b=1, c=1), ["c", "b", "a"]
    assert scheduling.filter_nodes(read(), names, ledger, 0.0).passed == ("c", "b", "a")
    ledger.observe("nodes", "DELETED", gpu_node("a"))
    assert scheduling.prioritize(read(), names, ledger, POLICIES["spread"], 0.0) == {"b": 3, "c": 2, "a": 1}
    ledger = ledger_of(b=1, c=1)
    assert scheduling.filter_nodes(read(), names, ledger, 0.0).passed == ("c", "b")
    ledger.observe("nodes", "ADDED", gpu_node("a", 1))
    assert scheduling.prioritize(read(), names, ledger, POLICIES["spread"], 0.0) == {"a": 3, "b": 2, "c": 1}


def test_a_surer_assumption_is_not_replaced_by_a_guess() -> None:
    ledger = ledger_of(a=1, b=1)
    placed = scheduling.judge(read(), "a", ledger, 0.0)
    assert isinstance(placed, Placement)
    ledger.assume(placed, Grade.SENT, 0.0)
    scheduling.filter_nodes(read(), ["b"], ledger, 0.0)
    found = ledger.assumption("uid-a", 0.0)
    assert found is not None
    assert found.placement.node == "a"
