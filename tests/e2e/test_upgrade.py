"""A version reads what the ones before it wrote: the same pods hold the same devices, new ones find the same places.

The folders of tests/fixtures hold the objects of a cluster, one for each version that was released, and what that
version itself made of them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gpuyard import vocabulary
from tests.fixtures.reading import answers

VERSIONS = sorted(path.parent for path in (Path(__file__).parents[1] / "fixtures").glob("*/objects.json"))


def load(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_what_a_version_wrote_is_read_with_the_same_answers(folder: Path) -> None:
    found = json.loads(json.dumps(answers(load(folder / "objects.json"))))
    expected = load(folder / "answers.json")
    for question in expected:
        assert found[question] == expected[question], question


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_the_record_of_a_version_shows_everything_that_parts_say_to_each_other(folder: Path) -> None:
    objects = load(folder / "objects.json")
    pods = {pod["metadata"]["name"]: pod for pod in objects["pods"]}
    assert all(vocabulary.INVENTORY in node["metadata"]["annotations"] for node in objects["nodes"])
    planned = [
        name for name, pod in pods.items() if vocabulary.ALLOCATION in pod["metadata"].get("annotations", {})
    ]
    assert {"plain", "with-init", "share-0", "slice-1", "slice-2"} <= set(planned)
    [reservation], [lease], [endpoints] = (objects[k] for k in ("reservations", "leases", "endpointslices"))
    assert {seat["pod"] for seat in reservation["spec"]["seats"]} == {"gang-0", "gang-1"}
    assert lease["spec"]["holderIdentity"]
    assert endpoints["endpoints"]


def test_a_change_of_what_is_read_is_seen() -> None:
    objects = load(VERSIONS[0] / "objects.json")
    node = objects["nodes"][0]["metadata"]["annotations"]
    node[vocabulary.INVENTORY] = node[vocabulary.INVENTORY].replace('"healthy":true', '"healthy":false', 1)
    assert answers(objects) != load(VERSIONS[0] / "answers.json")
