"""All controllers of workloads at once: any write may fail, memory may be lost after any write, and all is done."""

import itertools

from gpuyard.writes import JSON
from gpuyard_cluster.controllers.daemon_sets import DaemonSets
from gpuyard_cluster.controllers.deployments import Deployments
from gpuyard_cluster.controllers.disruption import Disruption
from gpuyard_cluster.controllers.jobs import Jobs
from gpuyard_cluster.controllers.node_lifecycle import NodeLifecycle
from gpuyard_cluster.controllers.replica_sets import ReplicaSets
from gpuyard_cluster.controllers.stateful_sets import StatefulSets
from tests.cluster.controllers.workshop import Workshop, template, workload

EVERY = 17
"""Of so many writes one is tried: a prime number, so that all kinds of writes come up."""


def busy() -> Workshop:
    return Workshop(
        Deployments(), ReplicaSets(), StatefulSets(), DaemonSets(), Jobs(), Disruption(), NodeLifecycle()
    )


def story(shop: Workshop) -> None:
    """A rollout, a StatefulSet that shrinks, and a job that fails once."""
    shop.create("deployments", "web", workload(2))
    shop.create(
        "poddisruptionbudgets", "keep", {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}
    )
    shop.create("statefulsets", "db", workload(1, "d", serviceName="db"))
    indexed = {"completions": 2, "parallelism": 2, "completionMode": "Indexed"}
    shop.create("jobs", "train", {"template": template("j", restartPolicy="Never"), **indexed})
    shop.settle(3)
    shop.run()
    shop.change("deployments", "web", {"template": {"metadata": {"labels": {"version": "2"}}}})
    first, *others = [pod for pod in shop.living() if pod["metadata"]["name"].startswith("train")]
    shop.end([first], code=1)
    shop.end(others)
    for _ in range(4):
        shop.settle(3)
        shop.run([pod for pod in shop.living() if not pod["metadata"]["name"].startswith("train")])
        shop.bury()
    shop.settle(15)
    shop.run()
    shop.end([pod for pod in shop.living() if pod["metadata"]["name"].startswith("train")])
    shop.change("statefulsets", "db", {"replicas": 0})
    for _ in range(2):
        shop.settle(3)
        shop.bury()


def outcome(shop: Workshop) -> JSON:
    web, train = shop.get("deployments", "web")["status"], shop.get("jobs", "train")["status"]
    return {
        "pods": sorted(pod["metadata"]["name"].split("-")[0] for pod in shop.living()),
        "web": [web[key] for key in ("replicas", "updatedReplicas", "availableReplicas")],
        "train": [
            train["succeeded"],
            train["failed"],
            train["completedIndexes"],
            train["conditions"][-1]["type"],
        ],
        "db": shop.get("statefulsets", "db")["status"]["replicas"],
        "keep": shop.get("poddisruptionbudgets", "keep")["status"]["disruptionsAllowed"],
    }


WANTED = {
    "pods": ["web", "web"],
    "web": [2, 2, 2],
    "train": [2, 1, "0,1", "Complete"],
    "db": 0,
    "keep": 1,
}


def test_any_write_may_fail() -> None:
    for failing in itertools.count(1, EVERY):
        shop = busy()
        shop.api.failing = {failing}
        story(shop)
        assert outcome(shop) == WANTED, f"write {failing} failed"
        if shop.api.writes < failing:
            break


def test_memory_may_be_lost_after_every_write() -> None:
    shop = busy()
    shop.api.forgetful = True
    story(shop)
    assert outcome(shop) == WANTED


def test_a_cluster_at_rest_has_no_event_to_come() -> None:
    shop = busy()
    story(shop)
    assert shop.steps.next_at() is None
