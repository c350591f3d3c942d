"""A scenario is understood as a whole, or refused in one line."""

from pathlib import Path
from typing import Any

import pytest

from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios.injections import DriverFault, RefusedBinding
from gpuyard_cli.scenarios.scenario import Expectation, ExpectedGroup, ExpectedPod, parse
from tests.cli.written import scenario, step

FILE = Path("scenario.yaml")


def refused(document: Any) -> str:
    with pytest.raises(InvalidInputError) as found:
        parse(FILE, document)
    return str(found.value).removeprefix("scenario.yaml: ")


def expecting(**expected: Any) -> Any:
    return scenario(step(expect=expected))


def test_everything_that_a_step_can_say_is_read() -> None:
    expected = {
        "pods": {
            "a": {"phase": "Running", "node": "node-1", "devices": {"main": ["0", "0:4"]}},
            "b": {"phase": "Pending", "code": "InsufficientGPUs", "reasons": {"node-1": "GPUUnhealthy"}},
        },
        "groups": {"g": {"scheduled": "False", "reason": "GangWaiting", "message": "1/2"}},
        "reservations": [],
        "allocatable": {"node-1": {"nvidia.com/gpu": 2}},
        "free": {"node-1": {"nvidia.com/gpu": 0}},
        "sees": {"a/main": ["NVIDIA_VISIBLE_DEVICES=x"]},
    }
    fault = {"refuse-binding": {"pod": "b", "times": 1}}
    document = scenario(
        step(fault=fault, join=["node-2"], delete=["pod/c"], apply=["d.yaml"], expect=expected)
    )
    (found,) = parse(FILE, document).steps
    assert (found.fault, found.join, found.delete) == (RefusedBinding("b", 1), ("node-2",), ("pod/c",))
    assert found.apply == ("d.yaml",)
    assert found.expect == Expectation(
        pods={
            "a": ExpectedPod("Running", "node-1", {"main": ("0", "0:4")}),
            "b": ExpectedPod("Pending", code="InsufficientGPUs", reasons={"node-1": "GPUUnhealthy"}),
        },
        groups={"g": ExpectedGroup("False", "GangWaiting", "1/2")},
        reservations=(),
        allocatable={"node-1": {"nvidia.com/gpu": 2}},
        free={"node-1": {"nvidia.com/gpu": 0}},
        sees={"a/main": ("NVIDIA_VISIBLE_DEVICES=x",)},
    )


def test_a_gpu_fails_with_an_xid_and_recovers_without_one() -> None:
    failing = {"gpu": {"node": "node-1", "index": 0, "xid": 79}}
    recovering = {"gpu": {"node": "node-1", "index": 0}}
    found = parse(FILE, scenario(step(fault=failing), step(fault=recovering))).steps
    assert [step.fault for step in found] == [
        DriverFault("node-1", "gpuyard.io/xid-0", text, (0,)) for text in ("79", None)
    ]


def test_a_link_goes_down_and_up_and_a_whole_node_fails() -> None:
    link = {"node": "node-1", "from": 3, "to": 1}
    faults = [{"link": {**link, "state": "down"}}, {"link": {**link, "state": "up"}}]
    faults += [{"node": {"node": "node-1", "xid": 79}}, {"node": {"node": "node-1"}}]
    found = parse(FILE, scenario(*(step(fault=fault) for fault in faults))).steps
    assert [step.fault for step in found] == [
        DriverFault("node-1", "gpuyard.io/nvlink-1-3", "down", (3, 1)),
        DriverFault("node-1", "gpuyard.io/nvlink-1-3", None, (3, 1)),
        DriverFault("node-1", "gpuyard.io/xid-all", "79"),
        DriverFault("node-1", "gpuyard.io/xid-all", None),
    ]


def test_reservations_that_are_not_named_may_be_any() -> None:
    assert parse(FILE, expecting()).steps[0].expect.reservations is None


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "[] is not a mapping"),
        (scenario(title=3), "title: 3 is not a text; write it in quotes"),
        (scenario(namespace=None), "namespace: a text is needed; set namespace"),
        (scenario(steps=[]), "steps: a scenario needs steps; write a list"),
        (scenario(steps={"a": 1}), "steps: a scenario needs steps; write a list"),
        (scenario(stepz=1), "stepz: unknown field; known ones are title, namespace, steps"),
        (scenario("run"), "steps[0]: 'run' is not a mapping"),
        (scenario(step(aply=["a.yaml"])), "steps[0].aply: unknown field; known ones are name, fault"),
        (scenario(step(delete=["train"])), "steps[0].delete: 'train' is not an object; write kind/name"),
        (scenario(step(fault={})), "steps[0].fault: no fault is named; known ones are refuse-binding"),
        (scenario(step(fault={"power": {}})), "steps[0].fault.power: unknown field; known ones are refuse-b"),
        (
            scenario(step(fault={"gpu": {"node": "n", "index": 0}, "refuse-binding": {"pod": "a"}})),
            "steps[0].fault.gpu: a step has one fault; give it a step of its own",
        ),
        (scenario(step(fault={"gpu": {"node": "n"}})), "steps[0].fault.gpu.index: a GPU is needed"),
        (scenario(step(fault={"link": {"node": "n", "from": 1}})), "steps[0].fault.link.to: a GPU is needed"),
        (
            scenario(step(fault={"link": {"node": "n", "from": 1, "to": 1, "state": "down"}})),
            "steps[0].fault.link.to: a link has two ends; give the index of another GPU",
        ),
        (
            scenario(step(fault={"link": {"node": "n", "from": 0, "to": 1, "state": "off"}})),
            "steps[0].fault.link.state: 'off' is unknown; write down or up",
        ),
        (scenario(step(fault={"node": {"xid": 79}})), "steps[0].fault.node.node: a text is needed"),
        (
            scenario(step(fault={"refuse-binding": {"pod": "a", "times": -1}})),
            "refuse-binding.times: -1 is not a whole number; give 0 or more",
        ),
        (scenario(step(fault={"gpu": {"node": "n", "index": 0.5}})), "index: 0.5 is not a whole number"),
        (scenario(step(fault={"gpu": {"node": "n", "index": True}})), "index: True is not a whole number"),
        (scenario(step(expect=None)), "steps[0].expect: None is not a mapping"),
        (expecting(nodes={}), "steps[0].expect.nodes: unknown field"),
        (
            expecting(pods={"a": {"phase": "Runs"}}),
            "pods.a.phase: unknown phase 'Runs'; known ones are Pending",
        ),
        (expecting(pods={"a": {}}), "pods.a.phase: a text is needed; set phase"),
        (expecting(pods={"a": {"phase": "Running", "gpus": 1}}), "pods.a.gpus: unknown field"),
        (
            expecting(pods={"a": {"phase": "Running", "devices": {"main": 3}}}),
            "pods.a.devices.main: 3 is not a list",
        ),
        (
            expecting(pods={"a": {"phase": "Running", "devices": {"main": [0]}}}),
            "devices.main: [0] is not a list",
        ),
        (
            expecting(pods={"a": {"phase": "Pending", "code": "NoGPUs"}}),
            "pods.a.code: unknown reason code 'NoGPUs'; known ones are InsufficientGPUs",
        ),
        (
            expecting(pods={"a": {"phase": "Pending", "reasons": {"node-1": ["x"]}}}),
            "pods.a.reasons.node-1: unknown reason code ['x']",
        ),
        (
            expecting(groups={"g": {"scheduled": True}}),
            "groups.g.scheduled: True is not a text; write it in quotes",
        ),
        (
            expecting(groups={"g": {"scheduled": "Yes"}}),
            "groups.g.scheduled: unknown status 'Yes'; known ones are True",
        ),
        (expecting(reservations="gang"), "reservations: 'gang' is not a list of texts; write [\"first\""),
        (expecting(reservations=3), "expect.reservations: 3 is not a list of texts"),
        (expecting(free={"node-1": {"nvidia.com/gpu": -1}}), "free.node-1.nvidia.com/gpu: -1 is not a count"),
        (
            expecting(free={"node-1": {"nvidia.com/gpu": 0.5}}),
            "free.node-1.nvidia.com/gpu: 0.5 is not a count",
        ),
        (expecting(allocatable={"node-1": 4}), "allocatable.node-1: 4 is not a mapping"),
        (expecting(sees={"a/main": "X=1"}), "sees.a/main: 'X=1' is not a list of texts"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_field(document: Any, said: str) -> None:
    found = refused(document)
    assert said in found
    assert "; " in found, "the remedy"
