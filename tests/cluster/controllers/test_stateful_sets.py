from gpuyard_cluster.controllers.stateful_sets import StatefulSets
from tests.cluster.controllers.workshop import Workshop, names, workload


def made(replicas: int = 3, **spec: object) -> Workshop:
    shop = Workshop(StatefulSets())
    shop.create("statefulsets", "db", workload(replicas, serviceName="db", **spec))
    shop.settle()
    return shop


def all_running(replicas: int = 3, **spec: object) -> Workshop:
    shop = made(replicas, **spec)
    for _ in range(replicas):
        shop.run()
    return shop


def test_each_pod_waits_until_those_before_it_are_available() -> None:
    shop = made()
    seen = []
    for _ in range(3):
        seen.append(names(shop.living()))
        shop.run()
    assert seen == [["db-0"], ["db-0", "db-1"], ["db-0", "db-1", "db-2"]]
    assert shop.get("statefulsets", "db")["status"]["readyReplicas"] == 3


def test_pods_may_come_all_at_once() -> None:
    assert names(made(podManagementPolicy="Parallel").living()) == ["db-0", "db-1", "db-2"]


def test_pods_know_their_number_and_name() -> None:
    (pod,) = made().living()
    labels = pod["metadata"]["labels"]
    assert (labels["apps.kubernetes.io/pod-index"], labels["statefulset.kubernetes.io/pod-name"]) == (
        "0",
        "db-0",
    )
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-0", "db")


def test_the_last_pod_goes_first_one_at_a_time() -> None:
    shop = all_running()
    shop.change("statefulsets", "db", {"replicas": 0})
    shop.settle()
    left = []
    for _ in range(3):
        left.append(names(shop.living()))
        shop.bury()
    assert left == [["db-0", "db-1"], ["db-0"], []]


def test_a_pod_that_failed_comes_back_under_its_name() -> None:
    shop = all_running()
    old = shop.get("pods", "db-1")["metadata"]["uid"]
    shop.end([shop.get("pods", "db-1")], code=1)
    shop.bury()
    assert shop.get("pods", "db-1")["metadata"]["uid"] != old


def test_a_new_version_replaces_pods_from_the_last_on_down_to_the_partition() -> None:
    shop = all_running(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    shop.change("statefulsets", "db", {"template": {"metadata": {"labels": {"version": "2"}}}})
    shop.settle()
    replaced = []
    for _ in range(4):
        replaced.append(
            [pod["metadata"]["name"] for pod in shop.all("pods") if "deletionTimestamp" in pod["metadata"]]
        )
        shop.bury()
        shop.run()
    assert replaced == [["db-2"], ["db-1"], [], []]
    assert [pod["metadata"]["labels"].get("version") for pod in shop.living()] == [None, "2", "2"]
    status = shop.get("statefulsets", "db")["status"]
    assert (status["updatedReplicas"], status["currentRevision"] == status["updateRevision"]) == (2, False)


def test_what_is_not_simulated_is_said() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    shop = made(volumeClaimTemplates=[claim])
    assert any("volumeClaimTemplates are not simulated" in line for line in shop.told())
