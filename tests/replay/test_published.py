"""The published figures of "Beware of Fragmentation" come out to the printed digit."""

import statistics

import pytest

from gpuyard.policies import registry
from gpuyard_replay import curve, sources, tables
from gpuyard_replay.replaying import replay
from tests.replay import openb

pytestmark = openb.needed
ROUNDING = 0.00501


def largest_difference(policy: str, seed: int) -> dict[str, float]:
    order = openb.FOLDER / "orders" / f"default_seed{seed}.csv.gz"
    scene = sources.ordered(openb.source("default"), order, seed)
    points = curve.points(replay(scene, registry.named(policy)).record)
    found = {}
    for figure in openb.FILES:
        expected = openb.published(figure, "default", policy)[seed]
        assert expected.keys() <= {point.asked for point in points}
        differences = [abs(getattr(p, figure) - expected[p.asked]) for p in points if p.asked in expected]
        found[figure] = max(differences)
    return found


@pytest.mark.parametrize("policy", ["bestfit", "fgd"])
def test_every_published_point_comes_out(policy: str) -> None:
    found = largest_difference(policy, 42)
    assert max(found.values()) <= ROUNDING, found


def test_orders_of_our_own_come_near_the_published_means() -> None:
    points = curve.points(
        replay(sources.drawn(openb.source("gpushare40"), 1), registry.named("bestfit")).record
    )
    published = [found[130] for found in openb.published("allocated", "gpushare40", "bestfit").values()]
    assert abs(tables.at(points, 130).allocated - statistics.fmean(published)) <= 0.5
