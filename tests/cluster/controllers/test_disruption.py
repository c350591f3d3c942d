import pytest

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.controllers.disruption import Disruption
from gpuyard_cluster.controllers.replica_sets import ReplicaSets
from tests.cluster.controllers.workshop import Workshop, path, workload


def made(replicas: int = 4, **budget: object) -> Workshop:
    shop = Workshop(Disruption(), ReplicaSets())
    shop.create("replicasets", "web", workload(replicas))
    shop.create("poddisruptionbudgets", "keep", {"selector": {"matchLabels": {"app": "a"}}, **budget})
    shop.settle()
    shop.run()
    return shop


def status(shop: Workshop) -> JSON:
    found: JSON = shop.get("poddisruptionbudgets", "keep")["status"]
    return found


def evict(shop: Workshop, pod: JSON) -> Reply:
    name = pod["metadata"]["name"]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    reply: Reply = shop.steps.complete(
        shop.kubectl.send(Write("POST", path("pods", name) + "/eviction", body))
    )
    return reply


@pytest.mark.parametrize(
    ("budget", "allowed"),
    [
        ({"minAvailable": 3}, 1),
        ({"minAvailable": "50%"}, 2),
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": "30%"}, 2),
    ],
)
def test_a_budget_allows_what_is_healthy_beyond_what_is_needed(budget: JSON, allowed: int) -> None:
    shop = made(**budget)
    assert status(shop)["disruptionsAllowed"] == allowed
    assert status(shop)["expectedPods"] == 4


def test_evictions_are_refused_until_the_evicted_pod_is_replaced() -> None:
    shop = made(minAvailable=3)
    first, second, *_ = shop.living()
    assert evict(shop, first).ok
    assert evict(shop, second).status == 429, "the budget was spent with the first"
    shop.settle()
    assert evict(shop, second).status == 429
    shop.bury()
    shop.run()
    assert evict(shop, second).ok


def test_pods_that_are_not_ready_count_for_nothing() -> None:
    shop = made(minAvailable=3)
    shop.end(shop.living()[:1], code=1)
    assert (status(shop)["currentHealthy"], status(shop)["disruptionsAllowed"]) == (3, 0)
    (condition,) = status(shop)["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "InsufficientPods")


def test_an_eviction_without_a_deletion_is_forgotten_in_time() -> None:
    shop = made(minAvailable=3)
    promised = {shop.living()[0]["metadata"]["name"]: "2023-11-14T22:13:20Z"}
    budget = shop.get("poddisruptionbudgets", "keep")
    budget["status"] |= {"disruptedPods": promised, "disruptionsAllowed": 0}
    shop.send(Write("PUT", path("poddisruptionbudgets", "keep") + "/status", budget))
    shop.settle()
    assert status(shop)["disruptionsAllowed"] == 0
    shop.settle(120)
    assert (status(shop)["disruptionsAllowed"], "disruptedPods" in status(shop)) == (1, False)


def test_a_budget_for_no_pod_allows_nothing() -> None:
    shop = Workshop(Disruption())
    shop.create(
        "poddisruptionbudgets", "keep", {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}
    )
    shop.settle()
    assert (status(shop)["disruptionsAllowed"], status(shop)["expectedPods"]) == (0, 0)
