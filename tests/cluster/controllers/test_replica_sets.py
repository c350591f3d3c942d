import pytest

from gpuyard.writes import PatchType, Write
from gpuyard_cluster.controllers import pods, service
from gpuyard_cluster.controllers.replica_sets import ReplicaSets
from tests.cluster.controllers.workshop import Workshop, names, path, workload


def made(replicas: int = 3) -> Workshop:
    shop = Workshop(ReplicaSets())
    shop.create("replicasets", "web", workload(replicas))
    shop.settle()
    return shop


def test_as_many_pods_as_wanted_belong_to_the_replica_set() -> None:
    shop = made()
    owners = [pod["metadata"]["ownerReferences"] for pod in shop.all("pods")]
    assert len(owners) == 3
    assert all(
        (owner["kind"], owner["name"], owner["controller"]) == ("ReplicaSet", "web", True)
        for [owner] in owners
    )
    assert all(pod["metadata"]["name"].startswith("web-") for pod in shop.all("pods"))


def test_the_status_follows_the_pods() -> None:
    shop = made()
    shop.run(shop.living()[:2])
    status = shop.get("replicasets", "web")["status"]
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (3, 2, 2)
    assert status["observedGeneration"] == 1


def test_pods_are_available_when_they_were_ready_for_long_enough() -> None:
    shop = Workshop(ReplicaSets())
    shop.create("replicasets", "web", workload(1, minReadySeconds=10))
    shop.settle()
    shop.run()
    assert "availableReplicas" not in shop.get("replicasets", "web")["status"]
    shop.settle(10)
    assert shop.get("replicasets", "web")["status"]["availableReplicas"] == 1


def test_a_pod_that_is_deleted_or_ended_is_made_anew() -> None:
    shop = made()
    shop.run()
    first, second, _ = shop.living()
    shop.delete("pods", first["metadata"]["name"])
    shop.end([second], code=1)
    assert len(shop.living()) == 3
    assert first["metadata"]["name"] not in names(shop.living())


def test_of_too_many_pods_those_that_do_not_run_go_first() -> None:
    shop = made()
    kept = shop.living()[:2]
    shop.run(kept)
    shop.change("replicasets", "web", {"replicas": 2})
    shop.settle()
    assert names(shop.living()) == names(kept)


def test_the_pod_that_costs_least_to_delete_goes_first() -> None:
    shop = made(2)
    shop.run()
    cheap = shop.living()[1]["metadata"]["name"]
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}
    shop.send(Write("PATCH", path("pods", cheap), cost, PatchType.MERGE))
    shop.change("replicasets", "web", {"replicas": 1})
    shop.settle()
    assert cheap not in names(shop.living())


def test_orphans_that_match_are_taken_up_and_strangers_let_go() -> None:
    shop = Workshop(ReplicaSets())
    pod = {"containers": [{"name": "main", "image": "i"}]}
    shop.create("pods", "orphan", pod, labels={"app": "a"})
    shop.create("replicasets", "web", workload(2))
    shop.settle()
    assert len(shop.living()) == 2
    assert shop.get("pods", "orphan")["metadata"]["ownerReferences"][0]["name"] == "web"
    change = {"metadata": {"labels": {"app": "other"}}}
    shop.send(Write("PATCH", path("pods", "orphan"), change, PatchType.MERGE))
    shop.settle()
    assert "ownerReferences" not in shop.get("pods", "orphan")["metadata"]
    assert len(shop.living()) == 3, "another pod is made in its place"


def test_pods_go_with_their_replica_set_or_stay_as_orphans() -> None:
    for policy, left in (("Background", 0), ("Orphan", 3)):
        shop = made()
        shop.delete("replicasets", "web", propagationPolicy=policy)
        shop.settle(5)
        assert (len(shop.living()), shop.read(path("replicasets", "web")).status) == (left, 404)


def test_people_are_told_of_each_pod_and_of_each_failure() -> None:
    shop = Workshop(ReplicaSets())
    shop.api.failing = {1}
    shop.create("replicasets", "web", workload(1))
    shop.settle(5)
    (pod,) = names(shop.living())
    assert "ReplicaSet/web FailedCreate: Error creating: injected" in shop.told()
    assert f"ReplicaSet/web SuccessfulCreate: Created pod: {pod}" in shop.told()


def test_a_great_number_of_pods_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods, "BURST", 5)
    monkeypatch.setattr(service, "BATCH", 5)
    shop = made(12)
    shop.settle(5)
    assert len(shop.living()) == 12
    shop.change("replicasets", "web", {"replicas": 0})
    shop.settle(5)
    assert shop.living() == []
