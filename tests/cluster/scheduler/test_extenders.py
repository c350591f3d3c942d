import asyncio
from typing import Any

import pytest

from gpuyard.pods.fit import NodeFit
from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.cycle import Filtered, Rejection
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderConfig, ExtenderError
from gpuyard_cluster.scheduler.pods import PodInfo
from tests.cluster.scheduler.scripted_extender import ScriptedExtender
from tests.cluster.small_api import SmallApi, node, pod

CHIP = "example.com/chip"


def info(limits: dict[str, str] | None = None, **spec: Any) -> PodInfo:
    made = pod("p", limits, **spec)
    made["metadata"].update(uid="uid-p", managedFields=[{"manager": "x"}])
    return PodInfo.of(made)


def candidates(*names: str) -> list[Candidate]:
    return [Candidate(NodeFit.of(node(name)), {}, node(name)) for name in names]


def extender(**config: Any) -> tuple[Extender, ScriptedExtender]:
    steps = Steps()
    scripted = ScriptedExtender(SmallApi(steps), steps)
    return Extender(ExtenderConfig(frozenset({CHIP}), **config), scripted, "http://H/a"), scripted


def filtered(reply: JSON, **config: Any) -> Filtered:
    made, scripted = extender(**config)
    scripted.on_filter = lambda args: reply
    return asyncio.run(made.filter(info({CHIP: "1"}), candidates("a", "b", "c")))


def names(kept: Filtered) -> list[str]:
    return [found.node.name for found in kept.feasible]


@pytest.mark.parametrize(
    ("pod", "asked"),
    [
        (info({"cpu": "1"}), False),
        (info({CHIP: "1"}), True),
        (info({CHIP: "0"}), True),
        (info(initContainers=[{"name": "i", "resources": {"requests": {CHIP: "1"}}}]), True),
    ],
)
def test_it_is_asked_for_pods_that_name_a_managed_resource(pod: PodInfo, asked: bool) -> None:
    assert extender()[0].interested(pod) is asked


def test_without_managed_resources_it_is_asked_for_every_pod() -> None:
    made, scripted = extender()
    assert Extender(ExtenderConfig(), scripted).interested(info())


def test_only_names_are_sent_to_an_extender_that_knows_the_nodes() -> None:
    made, scripted = extender()
    asyncio.run(made.filter(info(), candidates("a", "b")))
    sent = scripted.calls[0][1]
    assert (sent["Nodes"], sent["NodeNames"]) == (None, ["a", "b"])
    assert sent["Pod"]["metadata"]["name"] == "p"
    assert "managedFields" not in sent["Pod"]["metadata"]


def test_whole_nodes_are_sent_to_one_that_does_not() -> None:
    made, scripted = extender(node_cache_capable=False)
    scripted.on_filter = lambda args: {"Nodes": {"items": args["Nodes"]["items"][:1]}}
    kept = asyncio.run(made.filter(info(), candidates("a", "b")))
    assert names(kept) == ["a"]
    assert scripted.calls[0][1]["NodeNames"] is None
    assert names(filtered({"NodeNames": ["a"]}, node_cache_capable=False)) == [], "names alone leave no node"


def test_reasons_come_from_both_maps_and_the_unresolvable_one_wins() -> None:
    kept = filtered(
        {
            "NodeNames": ["c"],
            "FailedNodes": {"a": "first", "b": "no"},
            "FailedAndUnresolvableNodes": {"a": "second"},
        }
    )
    assert names(kept) == ["c"]
    assert kept.failures == {
        "a": Rejection(("second",), resolvable=False),
        "b": Rejection(("no",), resolvable=True),
    }


def test_a_node_that_is_dropped_without_a_word_is_gone() -> None:
    kept = filtered({"NodeNames": ["a"], "FailedNodes": None})
    assert (names(kept), kept.failures) == (["a"], {})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"Error": "no leader"}, "^no leader$"),
        ({"NodeNames": ["x"]}, 'extender "http://H/a" claims a filtered node "x" which is not found'),
        ({"NodeNames": 5}, "cannot be decoded"),
        ({"NodeNames": [], "FailedNodes": ["a"]}, "cannot be decoded"),
    ],
)
def test_an_answer_that_is_an_error_fails_the_attempt(reply: JSON, said: str) -> None:
    with pytest.raises(ExtenderError, match=said):
        filtered(reply)


@pytest.mark.parametrize(
    ("reply", "scores"),
    [
        ([{"Host": "a", "Score": 3}, {"Host": "b", "Score": -1}], {"a": 60, "b": -20}),
        ([{"Host": "a", "Score": 7.5}, {"Host": "b", "Score": 1}], {}),
        ([{"Score": 1}], {}),
        (["a"], {}),
        ([], {}),
    ],
)
def test_scores_count_tenfold_times_the_weight_or_not_at_all(
    reply: list[Any], scores: dict[str, int]
) -> None:
    made, scripted = extender(weight=2)
    scripted.on_prioritize = lambda args: reply
    assert asyncio.run(made.prioritize(info(), candidates("a", "b"))) == scores


def test_bind_names_the_pod_and_an_error_is_raised() -> None:
    made, scripted = extender()
    scripted.bind_error = lambda args: "taken"
    with pytest.raises(ExtenderError, match="taken"):
        asyncio.run(made.bind(info(), "a"))
    assert scripted.calls[0][1] == {
        "PodName": "p",
        "PodNamespace": "default",
        "PodUID": "uid-p",
        "Node": "a",
    }
