"""Profiles: what is written down, what weights mean, and what is wrong with a file."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.policies import profiles, registry
from gpuyard.policies.candidates import Candidates, Policy
from gpuyard.policies.memory import Informed
from gpuyard.policies.profiles import Weighted
from gpuyard.policies.registry import POLICIES
from gpuyard.policies.workload import Column, Shape, Workload
from gpuyard.yard_fields import InvalidYardError
from tests.gpuyard.policies.columns import KNOWN, candidates

ONE = Shape(4000, 1000, 1)
SCORES = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=8)


def saying(*scores: int) -> Policy:
    return lambda _found: np.array(scores, np.int64)


def nodes(count: int) -> Candidates:
    return candidates(ONE, *[(1000, 1000)] * count)


def order(scores: Column) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()


def test_the_profile_of_the_documentation_weighs_links_three_times_as_much_as_fullness() -> None:
    profile = profiles.parse({"training": {"topology": 3, "pack": 1}})["training"]
    found = candidates(ONE, (1000, 0), (1000, 1000), (0, 1000))
    found.link[:] = [0, 50, 100]
    assert (profile(found) / 10**6).tolist() == [1, 1.5, 4]


def test_every_policy_can_be_part_of_a_profile_and_a_plain_one_is_found_by_its_name() -> None:
    profile = profiles.parse({"all": dict.fromkeys(registry.names(), 1)})["all"]
    assert len(Informed(registry.named(profile), lambda: KNOWN)(nodes(3))) == 3
    assert len(profile(nodes(3).at(np.array([], np.int64)))) == 0
    assert registry.named("pack") is POLICIES["pack"]


@settings(deadline=None, max_examples=50)
@given(scores=SCORES, weight=st.integers(1, 10**6))
def test_one_policy_alone_orders_as_it_does_without_a_profile(
    scores: list[tuple[int, int]], weight: int
) -> None:
    said = [score for score, _ in scores]
    assert order(Weighted(((saying(*said), weight),))(nodes(len(said)))) == order(np.array(said))


def test_of_thousands_of_nodes_no_two_become_equal() -> None:
    said = np.arange(5000)[::-1]
    assert order(Weighted(((saying(*said.tolist()), 1),))(nodes(5000))) == order(said)


@settings(deadline=None, max_examples=50)
@given(scores=SCORES, weights=st.tuples(st.integers(1, 99), st.integers(1, 99)), scale=st.integers(1, 10**9))
def test_neither_the_scale_of_a_policy_nor_that_of_all_weights_matters(
    scores: list[tuple[int, int]], weights: tuple[int, int], scale: int
) -> None:
    one, other = zip(*scores, strict=True)
    larger = saying(*(score * scale - 7 for score in other))
    found = nodes(len(scores))
    plain = Weighted(((saying(*one), weights[0]), (saying(*other), weights[1])))(found)
    assert np.array_equal(plain, Weighted(((saying(*one), weights[0]), (larger, weights[1])))(found))
    doubled = Weighted(((saying(*one), 2 * weights[0]), (saying(*other), 2 * weights[1])))(found)
    assert np.array_equal(doubled, 2 * plain)


@settings(deadline=None, max_examples=50)
@given(scores=SCORES, weights=st.tuples(st.integers(1, 99), st.integers(1, 99)))
def test_a_node_that_all_policies_like_better_comes_first(
    scores: list[tuple[int, int]], weights: tuple[int, int]
) -> None:
    one, other = zip(*scores, strict=True)
    said = Weighted(((saying(*one), weights[0]), (saying(*other), weights[1])))(nodes(len(scores))).tolist()
    for a, better in zip(scores, said, strict=True):
        assert all(
            better > s for b, s in zip(scores, said, strict=True) if a != b and a[0] >= b[0] and a[1] >= b[1]
        )


def test_what_a_costly_part_has_said_is_remembered_and_a_profile_that_learns_nothing_asks_nobody() -> None:
    def learn() -> Workload:
        raise AssertionError

    blind = profiles.parse({"own": {"pack": 1, "mig-holes": 2}})["own"]
    assert len(Informed(blind, learn)(nodes(2))) == 2
    asked: list[Workload] = []

    def known() -> Workload:
        asked.append(KNOWN)
        return KNOWN

    costly = profiles.parse({"own": {"fgd": 2, "spread": 1}})["own"]
    told, found = Informed(costly, known), candidates(ONE, (1000, 500), (700, 1000), (1000, 1000))
    first = told(found).tolist()
    assert first == told(found).tolist() == told.apart()(found).tolist()
    assert first == costly(found).tolist()
    assert asked


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, "profiles: none; write one, such as training: {topology: 3, pack: 1}"),
        ([1], "profiles: [1] is not a mapping; write key: value pairs"),
        ({1: {}}, "profiles: the key 1 is not a text; put it in quotes"),
        ({"pack": {"spread": 1}}, "pack: a policy has this name; give the profile another one"),
        ({"own": None}, "own: no policy; add one with its weight, such as pack: 1"),
        ({"own": 3}, "own: 3 is not a mapping; write key: value pairs"),
        ({"own": {"tetris": 1}}, "own.tetris: no policy has this name; use bestfit, clustering"),
        ({"a": {"pack": 1}, "own": {"a": 1}}, "own.a: no policy has this name; use bestfit"),
        *(
            (
                {"own": {"pack": weight}},
                f"own.pack: {weight!r} is not a weight; write a whole number from 1 to",
            )
            for weight in (0, -1, 1.5, True, "3", None, 10**6 + 1)
        ),
    ],
)
def test_what_is_wrong_is_told_with_field_and_remedy(document: Any, said: str) -> None:
    with pytest.raises(InvalidYardError) as told:
        profiles.parse(document)
    assert str(told.value).startswith(said)
