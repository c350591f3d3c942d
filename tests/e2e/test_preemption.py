"""On steps: pods of higher priority come to a full cluster, while parts die and writes fail; every law holds."""

import contextlib
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.amounts import requests_of
from gpuyard.writes import JSON
from gpuyard_cli.observation import is_live
from tests.e2e import laws
from tests.e2e.storm import Storm, container, pod

QUIET_SECONDS = 250.0
GPUS = {"node-1": 4, "node-2": 2}
PARTS = ("scheduler", "extender", "kubelet node-1", "operator")
Deed = tuple[str, int | str]
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("urgent"), st.integers(1, 3)),
        st.tuples(st.just("urgent"), st.integers(1, 3)),
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


def submit(storm: Storm, name: str, gpus: int, *, urgent: bool) -> None:
    storm.create(pod(name, [container("main", vocabulary.GPU, gpus)], urgent=urgent))


def do(storm: Storm, number: int, deed: Deed) -> Iterable[str]:
    match deed:
        case ("urgent" | "plain" as kind, int(gpus)):
            submit(storm, f"{kind}-{number}", gpus, urgent=kind == "urgent")
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
    """Urgent pods that wait, though they would fit where only plain ones are in the way."""
    live = [found for found in pods if is_live(found)]
    urgent = [found for found in live if found["spec"]["priority"]]
    for waiting in (found for found in urgent if not found["spec"].get("nodeName")):
        for node, total in GPUS.items():
            there = [found for found in urgent if found["spec"].get("nodeName") == node]
            if sum(map(gpus_of, (*there, waiting))) <= total:
                yield f"{waiting['metadata']['name']} could have {node}"


def gpus_of(found: JSON) -> int:
    return requests_of(found)[vocabulary.GPU]


@settings(deadline=None, max_examples=8)
@given(DEEDS, st.integers(0, 3))
def test_urgent_pods_get_what_plain_ones_hold_and_nobody_is_forgotten(deeds: list[Deed], seed: int) -> None:
    with contextlib.closing(Storm("whole", seed)) as storm:
        for number in range(sum(GPUS.values())):
            submit(storm, f"low-{number}", 1, urgent=False)
        list(storm.until(storm.now + 2))
        assert {found["status"]["phase"] for found in storm.pods()} == {"Running"}
        for number, deed in enumerate(deeds):
            for happened in do(storm, number, deed):
                assert broken(storm) == [], happened
        storm.fail_writes(0)
        list(storm.until(storm.now + QUIET_SECONDS))
        pods = storm.pods()
        for law in (laws.turned_away, laws.forgotten, laws.imagined):
            assert list(law(storm, pods)) == []
        assert [*without_need(pods), *broken(storm), *laws.unreconciled(storm)] == []
