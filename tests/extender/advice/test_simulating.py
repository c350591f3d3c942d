"""`POST /v1/simulations`: would it fit? And nothing is held, made or changed by asking."""

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.writes import JSON
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group
from tests.extender.web.test_app import call

PATH = "/v1/simulations"


def ask(stage: Stage, *objects: JSON, **more: object) -> JSON:
    status, answer = call(stage, "POST", PATH, orjson.dumps({"objects": objects, **more}))
    assert status == 200, answer
    found: JSON = answer
    return found


def of_kind(kind: str, obj: JSON) -> JSON:
    return {"kind": kind, **obj}


def pod(name: str, gpus: int = 1, **more: Any) -> JSON:
    return of_kind("Pod", gpu_pod(name, gpus, **more))


def job(name: str, parallelism: int, gpus: int) -> JSON:
    template = {"metadata": {}, "spec": gpu_pod(name, gpus)["spec"]}
    return {
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"parallelism": parallelism, "template": template},
    }


def group(name: str, needed: int) -> JSON:
    return of_kind("PodGroup", pod_group(name, needed))


def queue(name: str, gpus: int, used: int = 0) -> JSON:
    quota, held = {vocabulary.GPU: gpus}, {vocabulary.GPU: str(used)}
    return {"metadata": {"name": name}, "spec": {"quota": quota}, "status": {"used": held}}


def gang(name: str, count: int, needed: int, gpus: int = 1, **annotations: str) -> list[JSON]:
    """A PodGroup with these annotations, and its pods."""
    found = group(name, needed)
    found["metadata"]["annotations"] = {f"gpuyard.io/{key}": text for key, text in annotations.items()}
    return [found, *(pod(f"{name}-{i}", gpus, group=name) for i in range(count))]


def in_racks(**sizes: int) -> Stage:
    """A node for each rack, with so many GPUs."""
    nodes = [gpu_node(f"node-{rack}", size) for rack, size in sizes.items()]
    for node, rack in zip(nodes, sizes, strict=True):
        node["metadata"]["labels"] = {vocabulary.RACK: rack}
    return Stage(*nodes)


def full(node: str, gpus: int) -> list[JSON]:
    """Pods with one GPU each that fill a node."""
    return [gpu_pod(f"{node}-{i}", node=node, truth=[device(node, i)], phase="Running") for i in range(gpus)]


def test_a_pod_that_fits_is_told_where_with_which_devices() -> None:
    answer = ask(Stage(gpu_node("node-1")), pod("p", 2))
    [outcome] = answer["outcomes"]
    assert (answer["fits"], outcome["name"]) == (True, "Pod default/p")
    devices = {"train": {vocabulary.GPU: [device("node-1", 0), device("node-1", 1)]}}
    assert outcome["placed"] == [{"pod": "p", "node": "node-1", "devices": devices}]


def test_a_job_that_fits_in_part_is_told_why_and_what_would_make_it_fit() -> None:
    stage = Stage(gpu_node("node-1", 4), gpu_node("cpu", 0))
    stage.create(gpu_pod("old", node="node-1", truth=[device("node-1", 3)], phase="Running"))
    [outcome] = ask(stage, job("train", 2, 2))["outcomes"]
    assert (outcome["fits"], len(outcome["placed"]), outcome["pod"]) == (False, 1, "train-1")
    assert outcome["code"] == "InsufficientGPUs"
    assert [(why["reason"], why["nodes"]) for why in outcome["why"]] == [
        ("InsufficientGPUs", ["node-1"]),
        ("NoSuchResource", ["cpu"]),
    ]
    assert [(found["kind"], found["text"]) for found in outcome["remedies"]] == [
        ("Fewer", "ask for 1 pod instead of 2"),
        ("Fewer", "ask for 1 nvidia.com/gpu instead of 2"),
        ("MoreNodes", "add 1 node like node-1"),
        ("Ends", "wait until 1 pod ends"),
    ]
    assert outcome["remedies"][-1]["pods"] == ["default/old"]


def test_a_gang_is_all_or_nothing_and_where_a_plan_would_put_it() -> None:
    nodes = [gpu_node("node-1", 2), gpu_node("node-2", 2)]
    members = [pod("m0", 2, group="g"), pod("m1", 2, group="g")]
    [outcome] = ask(Stage(*nodes), group("g", 2), *members)["outcomes"]
    assert (outcome["name"], outcome["together"], outcome["fits"]) == ("PodGroup default/g", True, True)
    stage = Stage(*nodes)
    stage.create(*members)
    planned = stage.extender.plan(PlanRequest("default", "g", 2, ("uid-m0", "uid-m1")))
    assert isinstance(planned, Planned)
    seats = {seat.name: (seat.node, seat.allocation) for seat in planned.reservation.seats}
    found = {place["pod"]: (place["node"], place["devices"]) for place in outcome["placed"]}
    assert orjson.dumps(found) == orjson.dumps(seats)
    [outcome] = ask(Stage(nodes[0]), group("g", 2), *members)["outcomes"]
    assert (outcome["code"], outcome["placed"], outcome["pod"]) == ("GangUnplaceable", [], "m1")
    assert outcome["detail"] == "all 2 members need 4 nvidia.com/gpu, all nodes have 2"


def test_members_beyond_those_that_are_needed_come_after_each_for_itself() -> None:
    members = [pod(f"m{i}", group="g") for i in range(3)]
    first, rest = ask(Stage(gpu_node("node-1", 2)), group("g", 2), *members)["outcomes"]
    assert (first["fits"], rest["fits"], rest["name"]) == (True, False, "PodGroup default/g beyond minMember")


def test_a_group_that_is_not_whole_waits_and_a_group_of_the_cluster_counts() -> None:
    stage = Stage(gpu_node("node-1", 2))
    [outcome] = ask(stage, pod("m0", group="g"))["outcomes"]
    assert (outcome["code"], outcome["detail"]) == (
        "GangWaiting",
        "there is no such PodGroup; ask about it as well",
    )
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 2))
    [outcome] = ask(stage, pod("m0", group="g"))["outcomes"]
    assert outcome["detail"] == "1 of 2 members are there; ask about all of them"


def test_gangs_are_let_in_by_their_queues_one_after_the_other_until_the_quota_is_used_up() -> None:
    stage = Stage(gpu_node("node-1", 8))
    asked = [*gang("a", 3, 2, queue="q"), *gang("b", 2, 2, queue="q")]
    answer = ask(stage, *asked, queues=[queue("q", 4, used=1)])
    assert [(found["name"], found["code"], found["detail"]) for found in answer["outcomes"]] == [
        ("PodGroup default/a", None, ""),
        ("PodGroup default/a beyond minMember", None, ""),
        ("PodGroup default/b", "QuotaExceeded", "queue q: nvidia.com/gpu: needs 2, 0 left of 4"),
    ]
    larger = of_kind("Queue", queue("q", 3))
    answer = ask(stage, larger, *asked, queues=[queue("q", 4, used=1)])
    assert [(found["name"], found["code"]) for found in answer["outcomes"]] == [
        ("PodGroup default/a", None),
        ("PodGroup default/a beyond its quota", "QuotaExceeded"),
        ("PodGroup default/b", "QuotaExceeded"),
    ]


def test_a_group_of_the_cluster_is_in_its_queue_and_a_pod_can_name_it() -> None:
    stage = Stage(gpu_node("node-1", 2))
    known, member = gang("g", 1, 1, queue="nowhere")
    stage.extender.observe("podgroups", "ADDED", known)
    assert ask(stage, member)["fits"]
    [outcome] = ask(stage, member, queues=[])["outcomes"]
    assert (outcome["code"], outcome["detail"]) == (
        "NoSuchQueue",
        "there is no Queue nowhere; ask about it as well",
    )
    group, member = gang("h", 1, 1)
    member["metadata"]["labels"][vocabulary.QUEUE] = "q"
    assert ask(stage, group, member, queues=[queue("q", 0)])["outcomes"][0]["code"] == "QuotaExceeded"


def test_a_gang_in_one_rack_is_told_what_the_best_rack_has_and_what_would_help() -> None:
    stage = in_racks(r1=2, r2=3)
    [outcome] = ask(stage, *gang("g", 4, 4, topology="same-rack"))["outcomes"]
    assert (outcome["code"], outcome["pod"]) == ("GangUnplaceable", "g-3")
    [numbers, _node] = outcome["why"]
    detail = "needs 4 GPUs in one rack, best rack r2 has 3"
    assert (numbers["reason"], numbers["details"]) == ("TopologyUnsatisfied", {detail: 1})
    assert [found["text"] for found in outcome["remedies"]] == [
        "ask for 3 pods instead of 4",
        "do without the annotation gpuyard.io/topology of the PodGroup",
        "add 1 node like node-r1",
    ]
    [outcome] = ask(stage, *gang("g", 3, 3, topology="same-rack"))["outcomes"]
    assert {found["node"] for found in outcome["placed"]} == {"node-r2"}


def test_members_that_come_late_go_to_the_rack_of_the_gang_and_the_next_gang_finds_it_full() -> None:
    stage = in_racks(r1=4, r2=3)
    asked = [*gang("g", 4, 2, topology="same-rack"), *gang("h", 4, 4, topology="same-rack")]
    first, late, other = ask(stage, *asked)["outcomes"]
    assert [place["node"] for place in first["placed"] + late["placed"]] == ["node-r2"] * 3
    assert (late["fits"], late["pod"]) == (False, "g-3")
    assert {place["node"] for place in other["placed"]} == {"node-r1"}
    stage.create(gpu_pod("g-running", node="node-r1", group="g", truth=[device("node-r1", 0)]))
    [outcome] = ask(stage, *gang("g", 1, 1, topology="same-rack"))["outcomes"]
    assert [place["node"] for place in outcome["placed"]] == ["node-r1"]
    [outcome] = ask(stage, *gang("g", 1, 1, topology="same-node"))["outcomes"]
    assert (outcome["code"], "same-node" in outcome["detail"]) == ("InvalidRequest", True)


def test_a_wish_that_cannot_be_understood_is_named() -> None:
    odd = pod("odd")
    odd["metadata"]["annotations"] = {"gpuyard.io/topology": "same-rack"}
    [outcome] = ask(Stage(gpu_node("node-1")), odd)["outcomes"]
    assert outcome["code"] == "InvalidRequest"
    assert outcome["detail"].startswith("odd: gpuyard.io/topology: 'same-rack' is unknown")


def test_nodes_in_the_question_are_judged_instead_of_the_clusters() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 8))
    stage.create(*full("node-1", 2))
    assert not ask(stage, pod("p"), nodes=[gpu_node("node-1", 2)])["fits"]
    answer = ask(stage, pod("p"), nodes=[gpu_node("template", 2)])
    assert [place["node"] for place in answer["outcomes"][0]["placed"]] == ["template"]


def test_nodes_can_be_added_to_the_clusters() -> None:
    stage = Stage(gpu_node("node-1", 1))
    assert not ask(stage, pod("p", 2))["fits"]
    assert ask(stage, pod("p", 2), addNodes=[gpu_node("new", 2)])["fits"]
    body = orjson.dumps({"objects": [pod("p")], "addNodes": [gpu_node("node-1")]})
    status, answer = call(stage, "POST", PATH, body)
    assert (status, answer["error"]) == (
        400,
        "addNodes: node-1 is the name of a node that is there; give it another",
    )


_WORKLOADS = st.lists(
    st.sampled_from([pod("p", 1), pod("q", 2), job("j", 3, 1), job("k", 2, 9), pod("m", 1, group="g")]),
    min_size=1,
    max_size=4,
)


@settings(max_examples=20, deadline=None)
@given(_WORKLOADS, st.integers(0, 2), st.booleans())
def test_asking_changes_nothing(objects: list[JSON], taken: int, tentative: bool) -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 2))
    stage.create(*full("node-1", taken))
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 1))
    waiting = gpu_pod("waiting")
    stage.create(waiting)
    if tentative:
        stage.filter(waiting)
        stage.prioritize(waiting)
    ledger = stage.extender.ledger
    before = (
        copy.deepcopy(stage.extender.accounts()),
        list(ledger.assumptions.all()),
        ledger.holdings.changes,
    )
    ask(stage, *objects, addNodes=[gpu_node("node-3")])
    after = (stage.extender.accounts(), list(ledger.assumptions.all()), ledger.holdings.changes)
    assert after == before
    assert ledger.node("node-3", stage.clock.now()) is None
    assert not stage.server.bindings
    if tentative:
        assert stage.bound(waiting, "node-2" if taken == 2 else "node-1") == ""


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b"[]", "body"),
        (b"7", "body"),
        (b"{}", "objects"),
        (b'{"objects":[]}', "objects"),
        (b'{"objects":{"a":1}}', "objects"),
        (b'{"objects":["x"]}', "objects.0"),
        (b'{"objects":[{"kind":"Pod"}],"nodse":[]}', "nodse"),
        (b'{"objects":[{"kind":"Pod"}],"nodes":7}', "nodes"),
        (b'{"objects":[{"kind":"Pod"}],"addNodes":[[]]}', "addNodes.0"),
        (b'{"objects":[{"kind":"Pod"}]}', "objects[0].metadata"),
        (b'{"objects":' + b"[" * 5000 + b"]" * 5000 + b"}", "body"),
        (b'{"objects":[{"a":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001 + b"]}", "body"),
        (orjson.dumps({"objects": [{}] * 1001}), "objects"),
        (orjson.dumps({"objects": [pod("p")], "queues": [{"metadata": {}}]}), "queues[0]: a Queue with"),
        (orjson.dumps({"objects": [pod("p")], "queues": [queue("q", 1) | {"status": 7}]}), "queues[0]"),
        (orjson.dumps({"objects": [pod("p"), {"kind": "Queue", "metadata": {"name": "q"}}]}), "Queue[0]"),
        (orjson.dumps({"objects": [{"kind": "Pod", "metadata": {"name": "x" * 10**6}}]}), "objects[0].spec"),
        (orjson.dumps({"objects": [job("j", 5000, 1)]}), "objects: 5000 pods"),
    ],
)
def test_hostile_questions_are_answered_400_with_the_field(body: bytes, field: str) -> None:
    status, answer = call(Stage(gpu_node("node-1")), "POST", PATH, body)
    assert status == 400
    assert len(orjson.dumps(answer)) < 2000
    assert field in answer["error"]


_PLACES = ("metadata", "spec", "status")
_FIELDS = ("name", "labels", "annotations", "taints", "conditions", "allocatable", "unschedulable")


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(_PLACES),
    st.sampled_from(_FIELDS),
    st.sampled_from(
        [None, 7, "x", [], [7], [{}], {"a": 7}, {"a": None}, {"nvidia.com/gpu": [1]}, True, -1.5]
    ),
)
def test_a_node_object_is_judged_or_refused_by_its_field(place: str, field: str, content: object) -> None:
    node = copy.deepcopy(gpu_node("odd"))
    node[place] = {**node[place], field: content}
    body = orjson.dumps({"objects": [pod("p")], "nodes": [node]})
    status, answer = call(Stage(), "POST", PATH, body)
    assert status == 200 or answer["error"].startswith("nodes[0]")


_POD_FIELDS = (
    "containers",
    "initContainers",
    "nodeSelector",
    "affinity",
    "tolerations",
    "priority",
    "overhead",
)
_ODD = st.recursive(
    st.sampled_from([None, 7, "x", True, "1e9999", -1]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "nodeAffinity",
                    "requiredDuringSchedulingIgnoredDuringExecution",
                    "nodeSelectorTerms",
                    "matchExpressions",
                    "key",
                    "operator",
                    "values",
                    "resources",
                    "limits",
                    "nvidia.com/gpu",
                    "name",
                    "effect",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(_POD_FIELDS), _ODD)
def test_a_pod_object_is_judged_or_refused_by_its_field(field: str, content: object) -> None:
    odd = pod("p")
    odd["spec"] = {**odd["spec"], field: content}
    status, answer = call(Stage(gpu_node("node-1")), "POST", PATH, orjson.dumps({"objects": [odd]}))
    assert status == 200 or answer["error"].startswith("objects[0]")


def test_too_much_at_one_time_is_refused_with_what_would_be_possible() -> None:
    stage = Stage(*(gpu_node(f"n{i}", 0, inventory=False) for i in range(200)))
    status, answer = call(stage, "POST", PATH, orjson.dumps({"objects": [job("j", 1500, 1)]}))
    assert (status, answer["error"]) == (400, "objects: 1500 pods on 200 nodes; ask about 750 at a time")


def test_what_can_be_asked_is_described_in_openapi() -> None:
    status, answer = call(Stage(gpu_node("node-1")), "GET", "/v1/openapi.json")
    assert (status, sorted(answer["paths"])) == (
        200,
        ["/v1/podgroups/{namespace}/{name}/explain", "/v1/pods/{namespace}/{name}/explain", PATH],
    )
    assert set(answer["components"]["schemas"]["Asked"]["properties"]) == {
        *("objects", "queues", "nodes", "addNodes")
    }
