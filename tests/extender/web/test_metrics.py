"""What a scraper reads of the extender is what has happened."""

import asyncio
from collections.abc import Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuyard.writes import JSON
from gpuyard_extender.web.metrics import Metrics
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, reservation
from tests.extender.served import application, served
from tests.extender.web.test_app import call


def scraped(stage: Stage) -> Mapping[str, float]:
    """Each sample by name and labels, as a scraper gets it."""
    return samples(call(stage, "GET", "/metrics")[1])


def samples(text: str) -> Mapping[str, float]:
    return {
        sample.name.removeprefix("gpuyard_extender_")
        + "".join(f" {v}" for v in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_verdicts_are_counted_by_reason_and_answers_to_bind_by_kind() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1, sick=(0,)))
    small, big = gpu_pod("small"), gpu_pod("big", 2)
    stage.create(small, big)
    stage.filter(small)
    assert stage.bound(small, "node-1") == ""
    stage.filter(big)
    assert stage.bound(big, "node-1") != ""
    found = scraped(stage)
    verdicts = {name.split()[1]: value for name, value in found.items() if name.startswith("verdicts_total")}
    assert sum(verdicts.values()) == 4
    assert verdicts["Passed"] == 1
    assert verdicts["InsufficientGPUs"] >= 2
    assert (found["binds_total bound"], found["binds_total refused"]) == (1, 1)


def test_a_pod_is_assumed_until_the_api_shows_it() -> None:
    stage = Stage(gpu_node("node-1"))
    pod = gpu_pod("a")
    stage.create(pod)
    stage.filter(pod)
    assert scraped(stage)["assumed_pods tentative"] == 1
    stage.bound(pod, "node-1")
    assert scraped(stage)["assumed_pods bound"] == 1
    stage.extender.observe("pods", "MODIFIED", stage.server.pods["a"])
    assert not [name for name in scraped(stage) if name.startswith("assumed_pods")]


def test_where_the_kubelet_gave_other_devices_than_planned_the_pod_has_drifted() -> None:
    first, second = device("node-1", 0), device("node-1", 1)
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("a", node="node-1", plan=[first], truth=[first]))
    assert (scraped(stage)["drifted_pods"], scraped(stage)["unplanned_pods"]) == (0, 0)
    stage.create(gpu_pod("b", node="node-1", plan=[first], truth=[second]))
    assert scraped(stage)["drifted_pods"] == 1
    stage.create(gpu_pod("c", node="node-1"))
    assert (scraped(stage)["drifted_pods"], scraped(stage)["unplanned_pods"]) == (1, 1)
    for name, phase in (("b", "Succeeded"), ("c", "Failed")):
        stage.create({**gpu_pod(name, node="node-1"), "status": {"phase": phase}})
    assert (scraped(stage)["drifted_pods"], scraped(stage)["unplanned_pods"]) == (0, 0)


def test_binds_that_wait_for_their_gang_and_pods_that_were_woken_are_counted() -> None:
    stage = Stage(gpu_node("node-1"))
    members = [gpu_pod(name, group="ring") for name in ("m0", "m1")]
    stage.create(*members)
    places = {name: ("node-1", [device("node-1", n)]) for n, name in enumerate(("m0", "m1"))}
    held = reservation("ring", places, expires=stage.clock.now() + 60, needed=2)
    stage.extender.observe("reservations", "ADDED", held)
    stage.bind(members[0], "node-1")
    stage.settle()
    assert scraped(stage)["held_binds"] == 1
    waiting = gpu_pod("late")
    stage.create(waiting)
    stage.filter(waiting)
    stage.extender.observe("reservations", "DELETED", held)
    stage.wait(1)
    assert stage.server.woken == ["late"]
    assert scraped(stage)["woken_pods_total"] == 1
    assert scraped(stage)["held_binds"] == 0


def test_free_gpus_that_no_typical_pod_can_use_are_fragments() -> None:
    stage = Stage(gpu_node("full", 2), gpu_node("one-left", 3), gpu_node("empty", 2), gpu_node("plain", 0))
    for node in ("full", "one-left"):
        held = [device(node, 0), device(node, 1)]
        stage.create(gpu_pod(f"pair-on-{node}", 2, node=node, plan=held, truth=held))
    found = scraped(stage)
    assert (found["free_gpus"], found["fragmented_gpus"]) == (3, 1)
    parts = {name: value for name, value in found.items() if name.startswith("node_fragmented_gpus")}
    names = {
        f"node_fragmented_gpus {node}": lost for node, lost in (("full", 0), ("one-left", 1), ("empty", 0))
    }
    assert parts == names


def test_what_a_deleted_pod_held_is_free() -> None:
    stage = Stage(gpu_node("node-1", 2))
    pod = gpu_pod("a", node="node-1", plan=[device("node-1", 0)], truth=[device("node-1", 0)])
    stage.create(pod)
    assert scraped(stage)["free_gpus"] == 1
    stage.delete(pod)
    assert scraped(stage)["free_gpus"] == 2


def test_what_is_free_is_counted_anew_after_each_update_of_a_pod() -> None:
    """Also where the kubelet gave other devices than were planned; what was held is free when the pod has ended."""
    stage = Stage(gpu_node("node-1", 3))
    ids = [device("node-1", index) for index in range(3)]
    there: JSON = {"node": "node-1", "plan": ids[:2]}
    given = {**there, "truth": ids[1:]}
    updates: list[JSON] = [
        there,
        there,
        given,
        {**given, "phase": "Running"},
        {**given, "phase": "Succeeded"},
    ]
    stage.create(gpu_pod("a", 2))
    found = [scraped(stage)["free_gpus"]]
    for update in updates:
        stage.extender.observe("pods", "MODIFIED", gpu_pod("a", 2, **update))
        found.append(scraped(stage)["free_gpus"])
    assert found == [3, 1, 1, 1, 1, 3]


@pytest.mark.parametrize("verb", ["filter", "prioritize", "bind"])
def test_each_verb_has_its_durations(verb: str) -> None:
    stage = Stage(gpu_node("node-1"))
    metrics = Metrics(stage.extender)
    with metrics.timed(verb):
        pass
    assert samples(metrics.exposed().decode())[f"verb_duration_seconds_count {verb}"] == 1


def test_the_verbs_are_timed_where_they_are_answered() -> None:
    async def story() -> str:
        async with served(application()) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for path in ("/filter", "/prioritize", "/bind"):
                writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = (await reader.read()).decode()
            writer.close()
            return answer

    answer = asyncio.run(story())
    for verb in ("filter", "prioritize", "bind"):
        assert f'gpuyard_extender_verb_duration_seconds_count{{verb="{verb}"}} 1.0' in answer


def test_who_leads_is_told() -> None:
    stage = Stage()
    for leads in (True, False):
        text = Metrics(stage.extender, lambda leads=leads: leads).exposed().decode()  # type: ignore[misc]
        assert samples(text)["leading"] == leads
        assert samples(text)["ready"] == 1
