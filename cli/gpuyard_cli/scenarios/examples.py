"""An example: a folder with a yard, a scenario and Kubernetes objects, checked before anything runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.pods import requests
from gpuyard.pods.amounts import containers_of
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from gpuyard.yard import YardNode
from gpuyard_cli.inputs import InvalidInputError, documents
from gpuyard_cli.scenarios import scenario, step_checks
from gpuyard_cli.scenarios.scenario import Scenario
from gpuyard_cli.scenarios.yard_files import load_yard, only

_PLAIN_RESOURCES = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class Example:
    """`objects` are by file name within `objects/`."""

    folder: Path
    nodes: tuple[YardNode, ...]
    scenario: Scenario
    objects: Mapping[str, tuple[JSON, ...]]

    @property
    def name(self) -> str:
        return self.folder.name


def load(folder: Path) -> Example:
    """The example in a folder. InvalidInputError names file, field and remedy of the first fault."""
    if not folder.is_dir():
        raise InvalidInputError(folder, "", "there is no such folder", "name one of examples/*")
    if not (folder / "yard.yaml").exists():
        raise InvalidInputError(
            folder, "", "it has no yard.yaml", "name a folder such as examples/01-one-gpu"
        )
    example = Example(
        folder=folder,
        nodes=load_yard(folder / "yard.yaml"),
        scenario=scenario.parse(folder / "scenario.yaml", only(folder / "scenario.yaml")),
        objects={path.name: _objects(path) for path in sorted((folder / "objects").glob("*.yaml"))},
    )
    _check_namespace(example)
    step_checks.check(folder / "scenario.yaml", example.scenario, example.nodes, example.objects)
    return example


def _objects(path: Path) -> tuple[JSON, ...]:
    return tuple(_object(path, f"document {n}", found) for n, found in enumerate(documents(path)))


def _object(path: Path, place: str, found: object) -> JSON:
    if not isinstance(found, dict) or not isinstance(found.get("metadata"), dict):
        raise InvalidInputError(path, place, "not a Kubernetes object", "give apiVersion, kind and metadata")
    for field, holder in (("apiVersion", found), ("kind", found), ("name", found["metadata"])):
        if not isinstance(holder.get(field), str):
            where = f"{place}: {'metadata.' if field == 'name' else ''}{field}"
            raise InvalidInputError(path, where, "missing", f"set {field}")
    if found["kind"] == "Pod":
        _check_request(path, found)
    return found


def _check_request(path: Path, pod: JSON) -> None:
    try:
        request = requests.parse(pod)
    except (AttributeError, KeyError, TypeError) as error:
        where = f"Pod {pod['metadata']['name']}: spec"
        raise InvalidInputError(path, where, f"malformed: {error}", "write a PodSpec") from error
    if isinstance(request, Rejection):
        problem, _, remedy = request.detail.partition("; ")
        field, _, what = problem.partition(": ")
        raise InvalidInputError(path, f"Pod {pod['metadata']['name']}: {field}", what or problem, remedy)
    for _, container in containers_of(pod):
        _check_resources(path, f"Pod {pod['metadata']['name']}: container {container.get('name')}", container)


def _check_resources(path: Path, place: str, container: JSON) -> None:
    """A resource that no node of any yard offers is a slip of the pen: nothing would ever run."""
    resources = container.get("resources") or {}
    for part in ("limits", "requests"):
        for name in resources.get(part) or ():
            if name not in _PLAIN_RESOURCES and name not in mig.managed_resources():
                known = ", ".join((*_PLAIN_RESOURCES, vocabulary.GPU, vocabulary.GPU_SHARED))
                remedy = f"ask for {known} or {vocabulary.MIG_PREFIX}<profile>"
                raise InvalidInputError(
                    path, f"{place}: resources.{part}", f"unknown resource {name}", remedy
                )


def _check_namespace(example: Example) -> None:
    """A scenario looks at one namespace: with no object in it, everything would be missed."""
    objects = [
        obj["metadata"] for file in example.objects.values() for obj in file if obj["kind"] != "Namespace"
    ]
    found = {metadata.get("namespace", "default") for metadata in objects}
    if found and (namespace := example.scenario.namespace) not in found:
        problem, remedy = f"no object is in {namespace!r}", f"name one of {', '.join(sorted(found))}"
        raise InvalidInputError(example.folder / "scenario.yaml", "namespace", problem, remedy)
