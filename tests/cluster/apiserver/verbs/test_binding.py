from tests.cluster.apiserver.calling import MERGE, PODS, STAMP, Caller, binding, pod, seen

BINDING = f"{PODS}/a/binding"
OTHER_UID = "00000000-0000-0000-0000-000000000001"
GATED = {"schedulingGates": [{"name": "example.com/wait"}]}


def test_node_condition_labels_and_annotations_arrive_in_one_change(api: Caller) -> None:
    api.make(PODS, pod("a", {"labels": {"old": "1", "both": "1"}}))
    watch = api.watch(PODS, resourceVersion=str(api.server.revision))
    marks = {"annotations": {"example.com/gpu": "3"}, "labels": {"both": "2"}}
    answer = api.post(BINDING, binding("a", "n1", **marks))
    assert (answer.status, answer.body["kind"], answer.body["status"]) == (201, "Status", "Success")
    (event,) = watch.take()
    bound = event.object
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["labels"] == {"old": "1", "both": "2"}
    assert bound["metadata"]["annotations"] == marks["annotations"]
    assert bound["metadata"]["generation"] == 1
    assert bound["status"]["conditions"] == [
        {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": STAMP}
    ]


def test_a_pod_is_bound_once(api: Caller) -> None:
    api.make(PODS, pod("a"))
    assert api.post(BINDING, binding("a", "one")).status == 201
    for node in ("one", "two"):
        answer = api.post(BINDING, binding("a", node))
        assert (answer.status, answer.body["reason"]) == (409, "Conflict")
        assert 'pods/binding "a": pod a is already assigned to node "one"' in answer.body["message"]


def test_preconditions_name_the_pod_that_is_meant(api: Caller) -> None:
    made = api.make(PODS, pod("a"))["metadata"]
    for wrong in ({"uid": OTHER_UID}, {"resourceVersion": "1"}):
        answer = api.post(BINDING, binding("a", "n", **wrong))
        assert (answer.status, "in the precondition" in answer.body["message"]) == (409, True)
    right = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    assert api.post(BINDING, binding("a", "n", **right)).status == 201


def test_gated_and_leaving_pods_are_not_bound(api: Caller) -> None:
    api.make(PODS, pod("a", {"finalizers": ["example.com/x"]}, **GATED))
    assert "has non-empty .spec.schedulingGates" in api.post(BINDING, binding("a", "n")).body["message"]
    api.delete(f"{PODS}/a")
    answer = api.post(BINDING, binding("a", "n"))
    assert (answer.status, "is being deleted, cannot be assigned" in answer.body["message"]) == (409, True)


def test_the_namespace_takes_bindings_too_and_a_dry_run_binds_nothing(api: Caller) -> None:
    api.make(PODS, pod("a"))
    bindings = PODS.replace("/pods", "/bindings")
    assert api.post(bindings, binding("a", "n"), dryRun="All").status == 201
    assert "nodeName" not in api.get(f"{PODS}/a").body["spec"]
    assert api.post(bindings, binding("a", "n")).status == 201
    assert api.get(PODS, fieldSelector="spec.nodeName=n").names == ["a"]


def test_selectors_by_node_see_the_pod_move(api: Caller) -> None:
    api.make(PODS, pod("a"))
    queue = api.watch(PODS, fieldSelector="spec.nodeName=")
    kubelet = api.watch("/api/v1/pods", fieldSelector="spec.nodeName=n")
    api.post(BINDING, binding("a", "n"))
    api.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}}, MERGE)
    assert seen(queue) == [("ADDED", "a"), ("DELETED", "a")]
    assert seen(kubelet) == [("ADDED", "a"), ("MODIFIED", "a")]


def test_a_promise_ends_with_the_binding(api: Caller) -> None:
    api.make(PODS, pod("a"))
    api.patch(f"{PODS}/a/status", {"status": {"nominatedNodeName": "m"}}, MERGE)
    api.post(BINDING, binding("a", "n"))
    assert "nominatedNodeName" not in api.get(f"{PODS}/a").body["status"]
