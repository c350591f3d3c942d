"""On steps: pods and gangs of higher priority come to a full cluster, parts die, writes fail; every law holds."""

import contextlib
from collections import Counter
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.pods.amounts import requests_of
from gpuyard.pods.memberships import group_of
from gpuyard.writes import JSON
from gpuyard_cli.scenarios.observation import is_live
from tests.e2e import laws
from tests.e2e.storm import Storm, container, pod, pod_group

QUIET_SECONDS = 250.0
GPUS = {"node-1": 4, "node-2": 2}
PARTS = ("scheduler", "extender", "kubelet node-1", "operator")
Deed = tuple[str, int | str]
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("urgent"), st.integers(1, 3)),
        st.tuples(st.just("urgent"), st.integers(1, 3)),
        st.tuples(st.just("gang"), st.integers(1, 2)),
        st.tuples(st.just("plain"), st.integers(1, 2)),
        st.tuples(st.just("restart"), st.sampled_from(PARTS)),
        st.tuples(st.just("fail"), st.integers(1, 2)),
        st.tuples(st.just("step"), st.integers(1, 20)),
        st.tuples(st.just("wait"), st.integers(0, 3)),
    ),
    min_size=3,
    max_size=10,
)


@pytest.fixture(scope="module", autouse=True)
def _ready() -> None:
    """The first CEL environment raises the recursion limit, which hypothesis minds within a test."""
    Storm("whole").close()


def submit(storm: Storm, name: str, gpus: int, *, urgent: bool, group: str | None = None) -> None:
    storm.create(pod(name, [container("main", vocabulary.GPU, gpus)], urgent=urgent, group=group))


def gather(storm: Storm, group: str, members: int, gpus: int = 1, *, urgent: bool) -> None:
    storm.create(pod_group(group, members))
    for number in range(members):
        submit(storm, f"{group}-{number}", gpus, urgent=urgent, group=group)


def do(storm: Storm, number: int, deed: Deed) -> Iterable[str]:
    match deed:
        case ("urgent" | "plain" as kind, int(gpus)):
            submit(storm, f"{kind}-{number}", gpus, urgent=kind == "urgent")
        case ("gang", int(gpus)):
            gather(storm, f"gang-{number}", 2, gpus, urgent=True)
        case ("restart", str(part)):
            storm.restart(part)
        case ("fail", int(count)):
            storm.fail_writes(count)
        case ("step", int(count)):
            return storm.steps(count)
        case ("wait", int(seconds)):
            return storm.until(storm.now + seconds)
    return ()


def broken(storm: Storm) -> list[str]:
    pods = storm.pods()
    found = laws.shared_by_status(storm, pods), laws.shared_by_kubelets(storm), laws.miscounted(storm)
    return [line for lines in found for line in lines]


def without_need(pods: Iterable[JSON]) -> Iterable[str]:
    """Urgent pods and gangs that wait, though they would fit where only plain ones are in the way."""
    urgent = [found for found in pods if is_live(found) and found["spec"]["priority"]]
    left, waiting = Counter(GPUS), dict[str, list[int]]()
    for found in urgent:
        if node := found["spec"].get("nodeName"):
            left[node] -= gpus_of(found)
        else:
            waiting.setdefault(group_of(found) or found["metadata"]["name"], []).append(gpus_of(found))
    for name, wanted in waiting.items():
        for nodes in product(GPUS, repeat=len(wanted)):
            needed = Counter[str]()
            for node, gpus in zip(nodes, wanted, strict=True):
                needed[node] += gpus
            if needed <= left:
                yield f"{name} could have {nodes}"


def gpus_of(found: JSON) -> int:
    return requests_of(found)[vocabulary.GPU]


@settings(deadline=None, max_examples=8)
@given(DEEDS, st.integers(0, 3))
def test_urgent_pods_get_what_plain_ones_hold_and_nobody_is_forgotten(deeds: list[Deed], seed: int) -> None:
    with contextlib.closing(Storm("whole", seed)) as storm:
        half = laws.HalfPlaced()
        gather(storm, "low", 3, urgent=False)
        for number in range(sum(GPUS.values()) - 3):
            submit(storm, f"low-alone-{number}", 1, urgent=False)
        list(storm.until(storm.now + 2))
        assert {found["status"]["phase"] for found in storm.pods()} == {"Running"}
        for number, deed in enumerate(deeds):
            for happened in do(storm, number, deed):
                assert [*broken(storm), *half.look(storm, storm.pods())] == [], happened
        storm.fail_writes(0)
        list(storm.until(storm.now + QUIET_SECONDS))
        pods = storm.pods()
        for law in (laws.turned_away, laws.forgotten, laws.imagined):
            assert list(law(storm, pods)) == []
        assert [*without_need(pods), *broken(storm), *laws.unreconciled(storm)] == []
