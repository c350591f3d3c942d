import pytest

from gpuyard.writes import JSON
from tests.cluster.apiserver.calling import CONFIGS, LEASES, PODS, STAMP, Caller, config, lease, pod, seen

OTHER_UID = "00000000-0000-0000-0000-000000000001"
NAMESPACES = "/api/v1/namespaces"


def metadata(api: Caller, path: str) -> JSON:
    found: JSON = api.get(path).body["metadata"]
    return found


def test_a_deletion_answers_with_a_status_or_with_the_object_that_lingers(api: Caller) -> None:
    made = api.make(LEASES, lease("a"))
    answer = api.delete(f"{LEASES}/a").body
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    assert answer["details"] == {
        "name": "a",
        "group": "coordination.k8s.io",
        "kind": "leases",
        "uid": made["metadata"]["uid"],
    }
    api.make(CONFIGS, config("b", finalizers=["example.com/x"]))
    held = api.delete(f"{CONFIGS}/b").body
    assert (held["kind"], held["metadata"]["deletionTimestamp"]) == ("ConfigMap", STAMP)
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    assert api.delete(f"{LEASES}/a").status == 404


def test_a_second_delete_of_a_held_object_changes_nothing(api: Caller) -> None:
    api.make(CONFIGS, config("a", finalizers=["example.com/x"]))
    first = api.delete(f"{CONFIGS}/a").body
    api.time += 60
    assert api.delete(f"{CONFIGS}/a").body == first


def test_a_running_pod_has_its_grace_which_can_only_be_shortened(api: Caller) -> None:
    api.make(PODS, pod("a", nodeName="n"))
    body = api.delete(f"{PODS}/a").body
    assert (body["kind"], body["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 30)
    assert body["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:50Z"
    api.time += 5
    assert api.delete(f"{PODS}/a", gracePeriodSeconds="60").body == body
    shorter = api.delete(f"{PODS}/a", {"gracePeriodSeconds": 20}).body["metadata"]
    assert (shorter["deletionGracePeriodSeconds"], shorter["deletionTimestamp"]) == (
        20,
        "2023-11-14T22:13:40Z",
    )
    api.delete(f"{PODS}/a", gracePeriodSeconds="0")
    assert api.get(PODS).names == []


def test_a_pod_that_ends_can_be_written_until_its_kubelet_lets_it_go(api: Caller) -> None:
    api.make(PODS, pod("a", nodeName="n"))
    api.delete(f"{PODS}/a")
    watch = api.watch(PODS, resourceVersion=str(api.server.revision))
    api.patch(f"{PODS}/a/status", {"status": {"reason": "ending"}})
    api.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}})
    assert seen(watch) == [("MODIFIED", "a")] * 2


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_does_not_run_has_no_grace(api: Caller, phase: str) -> None:
    api.make(PODS, pod("a") if phase == "Pending" else pod("a", nodeName="n"))
    api.patch(f"{PODS}/a/status", {"status": {"phase": phase}})
    watch = api.watch(PODS, resourceVersion=str(api.server.revision))
    assert api.delete(f"{PODS}/a").body["kind"] == "Pod"
    assert seen(watch) == [("MODIFIED", "a"), ("DELETED", "a")]


def test_a_pod_with_finalizers_outlives_its_grace(api: Caller) -> None:
    api.make(PODS, pod("a", {"finalizers": ["example.com/x"]}, nodeName="n"))
    api.delete(f"{PODS}/a")
    api.delete(f"{PODS}/a", gracePeriodSeconds="0")
    assert metadata(api, f"{PODS}/a")["deletionGracePeriodSeconds"] == 0
    api.patch(f"{PODS}/a", {"metadata": {"finalizers": None}})
    assert api.get(f"{PODS}/a").status == 404


@pytest.mark.parametrize(
    ("policy", "finalizers"), [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"])]
)
def test_a_propagation_policy_leaves_work_to_the_garbage_collector(
    api: Caller, policy: str, finalizers: list[str]
) -> None:
    api.make(CONFIGS, config("a"))
    body = api.delete(f"{CONFIGS}/a", propagationPolicy=policy).body
    assert body["metadata"]["finalizers"] == finalizers
    assert metadata(api, f"{CONFIGS}/a")["finalizers"] == finalizers
    api.delete(f"{CONFIGS}/a")
    assert metadata(api, f"{CONFIGS}/a")["finalizers"] == finalizers, "without a policy the first one stays"
    api.delete(f"{CONFIGS}/a", propagationPolicy="Background")
    assert api.get(f"{CONFIGS}/a").status == 404


def test_a_collection_is_deleted_by_selector(api: Caller) -> None:
    for name, value in (("a", "1"), ("b", "2"), ("c", "1")):
        api.make(LEASES, lease(name, labels={"x": value}))
    foreign = {"preconditions": {"uid": OTHER_UID}}
    assert api.delete(LEASES, foreign, labelSelector="x=1").status == 409
    answer = api.delete(LEASES, labelSelector="x=1")
    assert (answer.body["kind"], answer.names) == ("LeaseList", ["a", "c"])
    assert api.get(LEASES).names == ["b"]


def test_a_namespace_waits_for_its_controller(api: Caller) -> None:
    api.make(NAMESPACES, {"metadata": {"name": "mine"}})
    body = api.delete(f"{NAMESPACES}/mine").body
    assert (body["kind"], body["status"]["phase"]) == ("Namespace", "Terminating")
    late = api.post(f"{NAMESPACES}/mine/configmaps", config("late"))
    assert (late.status, late.causes) == (403, {("metadata.namespace", "NamespaceTerminating")})
    finalized = {"metadata": {"name": "mine"}, "spec": {"finalizers": []}}
    assert api.put(f"{NAMESPACES}/mine/finalize", finalized).status == 200
    assert api.get(f"{NAMESPACES}/mine").status == 404
    assert api.delete(f"{NAMESPACES}/default").status == 403
