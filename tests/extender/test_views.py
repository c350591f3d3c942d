"""What is remembered by shape says what the plain judgement says, whatever happened before."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import annotations, vocabulary
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.placing import scoring
from gpuyard.placing.cluster import Placement
from gpuyard.pods import fit
from gpuyard.pods.fit import NodeFit, PodFit, Shortfall
from gpuyard.policies.candidates import best
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from gpuyard_extender.deciding import scheduling
from gpuyard_extender.ledger import pods
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from tests.extender.builders import device, gpu_node, gpu_pod
from tests.gpuyard.builders import gpus, split

NAMES = [f"n{i}" for i in range(5)]
ONE_G = vocabulary.mig_resource("1g.5gb")
RESOURCES = st.sampled_from([vocabulary.GPU, vocabulary.GPU_SHARED, ONE_G])
WISHES = [
    {},
    {},
    {vocabulary.GPU_MODEL: "A100"},
    {vocabulary.MIN_GPU_MEMORY: "10Gi"},
    {vocabulary.TOPOLOGY: "nvlink"},
    {vocabulary.TOPOLOGY: "nvlink", vocabulary.TOPOLOGY_POLICY: "preferred"},
]
TAINT = {"key": "gpu", "effect": "NoSchedule"}


@st.composite
def node_objects(draw: st.DrawFn, name: str) -> JSON:
    kind = draw(st.sampled_from(["whole", "whole", "shared", "split", "counted"]))
    shares = 2 if kind == "shared" else 0
    node = gpu_node(
        name, draw(st.integers(0, 4)), cpu="3", shares=shares, inventory=kind != "counted", sick=(1,)
    )
    if kind == "split":
        found = annotations.read_inventory(node["metadata"]["annotations"][vocabulary.INVENTORY])
        assert found is not None
        halves = tuple(split(gpu, "1g.5gb", "3g.20gb") for gpu in gpus(2, node=name))
        marks = annotations.write_inventory(
            type(found)(halves, mig_strategy=type(found.mig_strategy)("mixed"))
        )
        node["metadata"]["annotations"][vocabulary.INVENTORY] = marks
        node["status"]["allocatable"] |= {ONE_G: "2"}
    node["spec"] |= draw(st.sampled_from([{}, {}, {"taints": [TAINT]}, {"unschedulable": True}]))
    node["metadata"]["labels"] = {"zone": draw(st.sampled_from(["a", "b"]))}
    if draw(st.booleans()):
        node["metadata"]["labels"][vocabulary.PRODUCT_LABEL] = "NVIDIA-A100-SXM4-40GB"
    return node


@st.composite
def questions(draw: st.DrawFn) -> Pod:
    pod = gpu_pod(
        "asked", draw(st.integers(0, 3)), resource=draw(RESOURCES), cpu=draw(st.sampled_from("123"))
    )
    zone: Any = [
        {
            "weight": 5,
            "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]},
        }
    ]
    by_name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    second: Any = {"nodeSelectorTerms": [{"matchFields": [by_name]}]}
    pod["spec"] |= draw(
        st.sampled_from(
            [
                {},
                {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
                {"nodeSelector": {"zone": "a"}},
                {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": zone}}},
                {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": second}}},
            ]
        )
    )
    pod["metadata"]["annotations"] = draw(st.sampled_from(WISHES))
    found = pods.read(pod)
    assert found is not None
    return found


def what_happens(ledger: Ledger, data: st.DataObject, step: int) -> None:
    name = data.draw(st.sampled_from(NAMES))
    match data.draw(st.sampled_from(["bind", "bind", "node", "gone", "own", "seat"])):
        case "bind":
            pod = gpu_pod(f"p{step}", 1, resource=data.draw(RESOURCES), node=name)
            read = pods.read(pod)
            assert read is not None
            placed = scheduling.judge(read, name, ledger, 0.0)
            ids = (
                [found for held in placed.allocation.values() for found in held.get(vocabulary.GPU, ())]
                if isinstance(placed, Placement)
                else []
            )
            ledger.observe("pods", "ADDED", gpu_pod(f"p{step}", 1, node=name, plan=ids or [device(name, 0)]))
        case "node":
            ledger.observe("nodes", "MODIFIED", data.draw(node_objects(name)))
        case "gone":
            ledger.observe("nodes", "DELETED", gpu_node(name))
        case "own":
            ledger.assume(
                Placement("uid-asked", name, {"train": {vocabulary.GPU: (device(name, 0),)}}, {"cpu": 1000}),
                Grade.SENT,
                0.0,
            )
        case "seat":
            seat = Seat(f"uid-s{step}", f"s{step}", name, {"train": {vocabulary.GPU: (device(name, 1),)}})
            ledger.promise(Reservation("default", f"g{step}", 1, 60.0, (seat,)))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_filter_says_what_judging_each_node_says(data: st.DataObject) -> None:
    ledger = Ledger()
    ledger.replace("nodes", [data.draw(node_objects(name)) for name in NAMES[:4]])
    asked = [*NAMES, "unknown"]
    for step in range(data.draw(st.integers(1, 6))):
        pod = data.draw(questions())
        verdicts = {name: scheduling.judge(pod, name, ledger, 0.0) for name in asked}
        found = scheduling.filter_nodes(pod, asked, ledger, 0.0)
        passed = tuple(name for name, verdict in verdicts.items() if isinstance(verdict, Placement))
        refused = {
            name: verdict.reason for name, verdict in verdicts.items() if not isinstance(verdict, Placement)
        }
        assert found.passed == passed
        assert {name: reason for reason, names in found.rejected.items() for name in names} == refused
        what_happens(ledger, data, step)


def test_nodes_that_no_pod_tells_apart_are_judged_once_whatever_its_containers_are_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger, names, judged = Ledger(), [f"n{i}" for i in range(40)], []
    ledger.replace("nodes", [gpu_node(name) for name in names])

    def misplaced(pod: PodFit, node: NodeFit) -> Shortfall | None:
        judged.append(node.name)
        return fit.misplaced(pod, node)

    monkeypatch.setattr("gpuyard.placing.views.fit", SimpleNamespace(misplaced=misplaced))
    for name in ("train", "main"):
        asked = gpu_pod(name)
        asked["spec"]["containers"][0]["name"] = name
        pod = pods.read(asked)
        assert pod is not None
        assert scheduling.filter_nodes(pod, names, ledger, 0.0).passed == tuple(names)
    assert len(judged) == 1


@settings(deadline=None, max_examples=60)
@given(data=st.data(), policy=st.sampled_from(sorted(POLICIES.keys() - {"random"})))
def test_prioritize_ranks_by_preference_score_and_name(data: st.DataObject, policy: str) -> None:
    ledger = Ledger()
    ledger.replace("nodes", [data.draw(node_objects(name)) for name in NAMES])
    for step in range(3):
        what_happens(ledger, data, step)
    pod = data.draw(questions())
    nodes = {name: ledger.node(name, 0.0, {pod.uid}) for name in NAMES}
    key = {}
    for name, node in nodes.items():
        if node is not None and isinstance(scheduling.judge(pod, name, ledger, 0.0), Placement):
            assert not isinstance(pod.request, Rejection)
            found = scoring.of_nodes(pod.request, pod.fit.requests, [node])
            score = best(POLICIES[policy](found)).item()
            key[name] = (-scoring.preference(pod.fit, pod.request, node), -score, name)
    ranks = scheduling.prioritize(pod, NAMES[::-1], ledger, POLICIES[policy], 0.0)
    assert list(ranks) == [*sorted(key, key=key.__getitem__), *(name for name in NAMES if name not in key)]
