"""Names in the steps of a scenario must be those of the example's files, nodes and GPUs."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from gpuyard.yard import YardNode
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios.injections import DriverFault
from gpuyard_cli.scenarios.requests import COLLECTIONS
from gpuyard_cli.scenarios.scenario import Scenario, Step
from gpuyard_cli.scenarios.yard_files import load_yard


def check(file: Path, scenario: Scenario, nodes: Sequence[YardNode], objects: Collection[str]) -> None:
    """InvalidInputError for the first fault. `objects` are the names of files of objects."""
    for number, step in enumerate(scenario.steps):
        place = f"steps[{number}]"
        _check_objects(file, place, step, objects)
        if step.yard:
            nodes = _changed(file, f"{place}.yard", step.yard, nodes)
        _check_nodes(file, place, step, nodes)


def _check_objects(file: Path, place: str, step: Step, objects: Collection[str]) -> None:
    for name in step.apply:
        if name not in objects:
            remedy = f"name one of {', '.join(objects)}"
            raise InvalidInputError(file, f"{place}.apply", f"there is no objects/{name}", remedy)
    for target in step.delete:
        if (kind := target.partition("/")[0]) not in COLLECTIONS:
            remedy = f"a step can delete {', '.join(COLLECTIONS)}"
            raise InvalidInputError(file, f"{place}.delete", f"unknown kind {kind!r}", remedy)


def _changed(file: Path, place: str, name: str, before: Sequence[YardNode]) -> tuple[YardNode, ...]:
    """The nodes as another yard has them, of which only GPUs and plugins can be others."""
    nodes = load_yard(file.parent / name)
    if [_fixed(node) for node in nodes] != [_fixed(node) for node in before]:
        remedy = "change only gpus, mig and plugin of a node that is there"
        raise InvalidInputError(file, place, f"{name} has other nodes than the yard before it", remedy)
    return nodes


def _fixed(node: YardNode) -> YardNode:
    return dataclasses.replace(node, gpus=(), plugin_config={})


def _check_nodes(file: Path, place: str, step: Step, nodes: Sequence[YardNode]) -> None:
    known = {node.name: {gpu.index for gpu in node.gpus} for node in nodes}
    for field, name in _nodes_of(step):
        if name not in known:
            remedy = f"name one of {', '.join(sorted(known))}"
            raise InvalidInputError(file, f"{place}.{field}", f"yard.yaml has no node {name!r}", remedy)
    if not isinstance(step.fault, DriverFault):
        return
    for index in step.fault.gpus:
        if index not in (there := known[step.fault.node]):
            remedy = f"name one of {', '.join(map(str, sorted(there))) or 'another node'}"
            problem = f"{step.fault.node} has no GPU {index}"
            raise InvalidInputError(file, f"{place}.fault", problem, remedy)


def _nodes_of(step: Step) -> Iterator[tuple[str, str]]:
    if isinstance(step.fault, DriverFault):
        yield "fault", step.fault.node
    yield from (("join", name) for name in step.join)
    seen = step.expect
    by_node = {"allocatable": seen.allocatable, "free": seen.free, "links-down": seen.links_down}
    for field, counts in by_node.items():
        yield from ((f"expect.{field}", name) for name in counts)
    for pod, expected in step.expect.pods.items():
        if expected.node is not None:
            yield f"expect.pods.{pod}.node", expected.node
        yield from ((f"expect.pods.{pod}.reasons", name) for name in expected.reasons)
