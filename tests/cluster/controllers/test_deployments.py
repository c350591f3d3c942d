from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import JSON
from gpuyard_cluster.controllers.deployments import Deployments
from gpuyard_cluster.controllers.replica_sets import ReplicaSets
from tests.cluster.controllers.workshop import Workshop, template, workload

REVISION = "deployment.kubernetes.io/revision"


def made(replicas: int = 3, **spec: object) -> Workshop:
    shop = Workshop(Deployments(), ReplicaSets())
    shop.create("deployments", "web", workload(replicas, **spec))
    shop.settle()
    return shop


def new_version(shop: Workshop, version: str = "2") -> None:
    shop.change("deployments", "web", {"template": {"metadata": {"labels": {"version": version}}}})
    shop.settle()


def finish(shop: Workshop) -> None:
    """Let pods run and go until nothing changes any more."""
    for _ in range(40):
        shop.run()
        shop.bury()


def versions(shop: Workshop) -> dict[str, int]:
    """Version -> the living pods of it; "1" is the first."""
    labels = [pod["metadata"]["labels"] for pod in shop.living()]
    found = [label.get("version", "1") for label in labels]
    return {version: found.count(version) for version in sorted(set(found))}


def conditions(shop: Workshop) -> dict[str, tuple[str, str]]:
    status = shop.get("deployments", "web")["status"]
    return {found["type"]: (found["status"], found["reason"]) for found in status["conditions"]}


def revisions(shop: Workshop) -> list[str]:
    return sorted(found["metadata"]["annotations"][REVISION] for found in shop.all("replicasets"))


def test_pods_come_by_way_of_a_replica_set_with_the_templates_hash() -> None:
    shop = made()
    (replica_set,) = shop.all("replicasets")
    mark = replica_set["metadata"]["labels"]["pod-template-hash"]
    assert replica_set["metadata"]["name"] == f"web-{mark}"
    assert replica_set["spec"]["selector"]["matchLabels"] == {"app": "a", "pod-template-hash": mark}
    assert {pod["metadata"]["labels"]["pod-template-hash"] for pod in shop.living()} == {mark}
    assert shop.get("deployments", "web")["metadata"]["annotations"][REVISION] == "1"


def test_the_status_says_when_the_rollout_is_done() -> None:
    shop = made()
    assert conditions(shop)["Available"] == ("False", "MinimumReplicasUnavailable")
    assert conditions(shop)["Progressing"][0] == "True"
    shop.run()
    assert conditions(shop) == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    status = shop.get("deployments", "web")["status"]
    assert [status[key] for key in ("replicas", "updatedReplicas", "availableReplicas")] == [3, 3, 3]
    assert status["observedGeneration"] == 1
    assert "unavailableReplicas" not in status


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 4), st.sampled_from([(1, 0), (0, 1), (2, 1), (1, "50%"), (0, "50%")]))
def test_a_rolling_update_keeps_within_its_bounds(replicas: int, bounds: tuple[int, int | str]) -> None:
    surge, unavailable = bounds
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    shop = made(replicas, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    shop.run()
    missing = unavailable if isinstance(unavailable, int) else replicas // 2
    # With neither, nothing could ever move: then one pod may be missing.
    most, least = replicas + surge, replicas - (missing if surge or missing else 1)
    new_version(shop)
    for _ in range(4 * replicas + 4):
        ready = [pod for pod in shop.living() if pod["status"]["phase"] == "Running"]
        assert len(shop.living()) <= most
        assert len(ready) >= least
        waiting = [pod for pod in shop.living() if pod["status"]["phase"] == "Pending"]
        shop.run(waiting[:1])
        shop.bury()
    assert versions(shop) == {"2": replicas}
    assert conditions(shop)["Progressing"] == ("True", "NewReplicaSetAvailable")


def test_an_update_that_never_gets_ready_leaves_the_old_pods_alone() -> None:
    shop = made(3, progressDeadlineSeconds=60)
    shop.run()
    new_version(shop)
    assert versions(shop) == {"1": 3, "2": 1}
    shop.settle(61)
    assert conditions(shop)["Progressing"] == ("False", "ProgressDeadlineExceeded")
    assert versions(shop) == {"1": 3, "2": 1}


def test_recreate_starts_nothing_before_the_last_old_pod_is_gone() -> None:
    shop = made(2, strategy={"type": "Recreate"})
    shop.run()
    new_version(shop)
    assert shop.living() == []
    shop.bury()
    assert versions(shop) == {"2": 2}


def test_an_undone_template_gets_its_old_replica_set_and_a_new_revision() -> None:
    shop = made()
    shop.run()
    new_version(shop)
    finish(shop)
    assert revisions(shop) == ["1", "2"]
    shop.change("deployments", "web", {"template": {"metadata": {"labels": {"version": None}}}})
    shop.settle()
    finish(shop)
    assert versions(shop) == {"1": 3}
    assert revisions(shop) == ["2", "3"], "the first ReplicaSet is used again"


def test_only_so_many_old_versions_are_kept() -> None:
    shop = made(1, revisionHistoryLimit=1)
    for version in ("2", "3", "4"):
        new_version(shop, version)
        finish(shop)
    assert revisions(shop) == ["3", "4"]


def test_a_paused_deployment_is_scaled_but_not_rolled_out() -> None:
    shop = made(2, paused=False)
    shop.run()
    shop.change("deployments", "web", {"paused": True, "replicas": 4})
    new_version(shop)
    assert versions(shop) == {"1": 4}
    assert conditions(shop)["Progressing"] == ("Unknown", "DeploymentPaused")
    shop.change("deployments", "web", {"paused": False})
    shop.settle()
    finish(shop)
    assert versions(shop) == {"2": 4}


def test_scaling_in_the_middle_of_a_rollout_ends_with_the_new_size() -> None:
    for replicas in (1, 6):
        shop = made(4)
        shop.run()
        new_version(shop)
        shop.change("deployments", "web", {"replicas": replicas})
        shop.settle()
        finish(shop)
        assert versions(shop) == {"2": replicas}


def test_people_are_told_of_every_scaling() -> None:
    shop = made(2)
    (replica_set,) = shop.all("replicasets")
    name = replica_set["metadata"]["name"]
    assert f"Deployment/web ScalingReplicaSet: Scaled up replica set {name} from 0 to 2" in shop.told()
    shop.change("deployments", "web", {"replicas": 5})
    shop.settle()
    assert f"Deployment/web ScalingReplicaSet: Scaled up replica set {name} from 2 to 5" in shop.told()


def test_a_deployment_takes_up_the_replica_sets_it_left_behind() -> None:
    shop = made(2)
    shop.delete("deployments", "web", propagationPolicy="Orphan")
    shop.settle(5)
    pods = {pod["metadata"]["uid"] for pod in shop.living()}
    shop.create("deployments", "web", workload(2))
    shop.settle()
    assert {pod["metadata"]["uid"] for pod in shop.living()} == pods
    assert len(shop.all("replicasets")) == 1


def test_annotations_of_the_deployment_are_its_replica_sets_too() -> None:
    shop = Workshop(Deployments(), ReplicaSets())
    cause: JSON = {"kubernetes.io/change-cause": "first"}
    shop.create("deployments", "web", {**workload(1), "template": template()}, annotations=cause)
    shop.settle()
    (replica_set,) = shop.all("replicasets")
    assert replica_set["metadata"]["annotations"]["kubernetes.io/change-cause"] == "first"
