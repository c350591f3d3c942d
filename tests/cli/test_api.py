"""The clock of a Cluster from Python, and what it refuses; what its page shows is in tests/docs."""

import math
from collections.abc import Callable

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cli.api import Cluster, InvalidInputError, RefusedError, run

SMALL = {"name": "small", "gpus": {"model": "Tesla-T4", "count": 1}}


def pod(name: str, group: str = "", run_seconds: int = 0) -> JSON:
    labels = {vocabulary.POD_GROUP: group} if group else {}
    notes = {vocabulary.RUN_SECONDS: str(run_seconds)} if run_seconds else {}
    main = {"name": "main", "image": "busybox:1.36", "resources": {"limits": {vocabulary.GPU: 1}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels, "annotations": notes},
        "spec": {"restartPolicy": "Never", "containers": [main]},
    }


def gang(size: int) -> list[JSON]:
    group = {
        "apiVersion": vocabulary.POD_GROUP_API,
        "kind": "PodGroup",
        "metadata": {"name": "gang", "namespace": "default"},
        "spec": {"minMember": size},
    }
    return [group, *(pod(f"gang-{number}", "gang") for number in range(size))]


@pytest.mark.parametrize("seconds", [0, 0.5, 1, 3, 5, 10, 61])
def test_time_passes_as_long_as_told_beside_a_gang_that_waits(seconds: float) -> None:
    """What is due now may have to be done before it is known what is due next."""
    with Cluster(nodes=[SMALL]) as cluster:
        began = cluster._yard.clock.now()
        cluster.apply(*gang(2))
        for times in (1, 2):
            cluster.advance(seconds)
            assert cluster._yard.clock.now() == began + times * seconds
        assert {seen.phase for seen in cluster.pods().values()} == {"Pending"}


@pytest.mark.parametrize(("seconds", "phase"), [(1, "Running"), (2, "Succeeded"), (10, "Succeeded")])
def test_what_is_due_on_the_way_and_at_its_end_has_happened(seconds: float, phase: str) -> None:
    with Cluster(nodes=[SMALL]) as cluster:
        cluster.apply(pod("brief", run_seconds=2))
        cluster.advance(seconds)
        assert cluster.pods()["brief"].phase == phase


def test_a_gang_that_got_room_runs_when_time_has_passed() -> None:
    with Cluster(nodes=[SMALL, {**SMALL, "name": "other"}]) as cluster:
        cluster.apply(pod("first"), *gang(2))
        cluster.advance(3)
        cluster.delete("pod", "first")
        cluster.advance(40)
        assert {seen.phase for seen in cluster.pods().values()} == {"Running"}


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf])
def test_time_passes_forward_and_not_for_ever(seconds: float) -> None:
    with Cluster(nodes=[SMALL]) as cluster, pytest.raises(ValueError, match="seconds"):
        cluster.advance(seconds)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda cluster: cluster.apply({"kind": "Pod"}), "apiVersion: None is not a text; an object needs"),
        (lambda cluster: cluster.apply({**pod("a"), "metadata": {}}), "metadata.name: None is not a text; "),
        (lambda cluster: cluster.delete("job", "a"), "job: cannot be deleted; name one of pod, podgroup"),
        (lambda cluster: cluster.fail("small", gpu=7), "node small: there is no GPU 7; it has 0"),
        (lambda cluster: cluster.fail("other", gpu=0), 'node other: nodes "other" not found; see'),
        (lambda _: run("examples/01-one-gpu", on="moon"), "on: 'moon' is unknown; use steps, embedded, kind"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_remedy(wrong: Callable[[Cluster], object], said: str) -> None:
    with Cluster(nodes=[SMALL]) as cluster, pytest.raises((InvalidInputError, RefusedError)) as refused:
        wrong(cluster)
    assert str(refused.value).startswith(said)
