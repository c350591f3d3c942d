"""Nodes as rows: rows stay, whoever comes and goes."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from gpuyard.placing import scoring
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.placing.fleet import Fleet, Surveyed
from gpuyard.placing.scoring import State
from tests.gpuyard.builders import node


def using(name: str, cpu: int) -> Node:
    return dataclasses.replace(node(name), used={"cpu": cpu})


def test_a_column_says_what_is_left_also_below_zero_and_where_nothing_is_offered() -> None:
    fleet = Fleet()
    for found in (using("b", 1000), using("a", 65000)):
        fleet.put(found)
    rows = fleet.find(["a", "b"])
    assert fleet.left("cpu", rows).tolist() == [-1000, 63000]
    assert fleet.left("example.com/unheard-of", rows).tolist() == [0, 0]
    fleet.put(using("a", 0))
    assert fleet.left("cpu", fleet.find(["a"])).tolist() == [64000]


def test_names_that_are_not_known_have_no_row() -> None:
    fleet = Fleet()
    fleet.put(node("a"))
    assert fleet.find(["a", "b"]).tolist() == [0, -1]
    fleet.remove("a")
    fleet.remove("b")
    assert fleet.find(["a"]).tolist() == [-1]


def test_names_that_are_expected_are_found_until_a_node_comes_or_goes() -> None:
    fleet = Fleet()
    for name in "ab":
        fleet.put(node(name))
    fleet.by_name(fleet.find("ab"))
    fleet.expect(("b", "a"), fleet.find("ba"))
    assert (fleet.find(["b", "a"]).tolist(), fleet.find("ab").tolist()) == ([1, 0], [0, 1])
    fleet.remove("a")
    assert (fleet.find("ba").tolist(), fleet.find("").tolist()) == ([1, -1], [])


def test_rows_follow_the_order_of_names_when_nodes_come_later() -> None:
    fleet = Fleet()
    for name in "cab":
        fleet.put(node(name))
        rows = fleet.find(sorted(fleet.rows))
        assert np.all(np.diff(fleet.by_name(rows)) > 0)


def test_an_amount_beyond_every_column_is_cut_not_refused() -> None:
    fleet = Fleet()
    fleet.put(node("a", capacity={"memory": "9223372036854775807"}))
    assert fleet.left("memory", fleet.find(["a"])).tolist() == [2**62]


def test_rows_are_numbered_anew_once_most_of_them_are_unused() -> None:
    fleet, kept = Fleet(), using("kept", 500)
    first = fleet.generation
    for i in range(150):
        fleet.put(node(f"n{i}"))
    fleet.put(kept)
    for i in range(150):
        fleet.remove(f"n{i}")
    assert fleet.generation > first
    assert len(fleet.nodes) < 150
    assert fleet.left("cpu", fleet.find(["kept"])).tolist() == [63500]
    assert fleet.by_name(fleet.find(["kept"])).tolist() == [0]


def test_a_survey_is_read_where_it_differs_alone_and_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: using(name, cpu) for cpu, name in enumerate("abcd")}
    survey = Fleet.of(Cluster(before))
    now = {**before, "b": using("b", 9), "e": using("e", 5)}
    del now["c"]
    read: list[str] = []

    def state(node: Node) -> State:
        read.append(node.name)
        return scoring.state(node)

    monkeypatch.setattr(
        "gpuyard.placing.fleet.scoring", SimpleNamespace(state=state, stacked=scoring.stacked)
    )
    found = Fleet.of(Surveyed(now, survey))
    assert sorted(read) == ["b", "e"]
    anew, rows = Fleet.of(Cluster(now)), found.find("abde")
    assert [found.nodes[row] for row in rows] == [now[name] for name in "abde"]
    assert found.find("c") == -1
    for column in (lambda fleet, rows: fleet.left("cpu", rows), Fleet.states, Fleet.by_name):
        assert column(found, rows).tolist() == column(anew, anew.find("abde")).tolist()
    assert survey.left("cpu", survey.find("abcd")).tolist() == [64000, 63999, 63998, 63997]
