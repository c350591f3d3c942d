"""The buttons of the live yard on an embedded cluster."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from gpuyard import yard
from gpuyard_cli.up.controls import UpControls
from gpuyard_cluster.wiring.steps import StepsYard
from gpuyard_extender.web.ui.controls import UnwantedError

EXAMPLES = Path(__file__).parents[3] / "examples"


class Pushed:
    """The buttons of a cluster with one node, which is stepped by hand."""

    def __init__(self, folder: Path = EXAMPLES) -> None:
        self.yard = StepsYard(yard.parse({"nodes": [{"name": "node-1", "preset": "dgx-a100"}]}))
        self.yard.settle()
        self.controls = UpControls(self.yard.api, folder)

    def push(self, work: Coroutine[Any, Any, None]) -> str:
        """What is wrong with it, if anything."""
        try:
            asyncio.run(work)
        except UnwantedError as error:
            return str(error)
        finally:
            self.yard.settle()
        return ""

    def names(self, path: str) -> set[str]:
        reply = asyncio.run(self.yard.api.read(path))
        return {found["metadata"]["name"] for found in reply.body.get("items", ())}

    def healthy(self) -> list[bool]:
        return [gpu.healthy for gpu in self.yard.plugin("node-1").inventory.gpus]


@pytest.fixture
def pushed() -> Any:
    made = Pushed()
    yield made
    made.yard.close()


def test_an_example_is_submitted_once_and_removed_with_all_that_it_made(pushed: Pushed) -> None:
    pods = "/api/v1/namespaces/gang/pods"
    assert ("04-gang", "Gang, all or nothing") in pushed.controls.examples()
    assert pushed.push(pushed.controls.submit("04-gang")) == ""
    assert pushed.names(pods) == {"gang-worker-0", "gang-worker-1"}
    assert "remove it first" in pushed.push(pushed.controls.submit("04-gang"))
    assert pushed.push(pushed.controls.withdraw("04-gang")) == ""
    while pushed.names(pods) and pushed.yard.pass_on():
        pass
    assert pushed.names(pods) == set()


def test_a_gpu_fails_and_recovers(pushed: Pushed) -> None:
    assert pushed.push(pushed.controls.fault("node-1", 3, 79)) == ""
    assert pushed.healthy() == [index != 3 for index in range(8)]
    assert pushed.push(pushed.controls.fault("node-1", 3, None)) == ""
    assert all(pushed.healthy())


def test_an_nvlink_fails_and_recovers(pushed: Pushed) -> None:
    for down, lost in ((True, (5,)), (False, ())):
        assert pushed.push(pushed.controls.link("node-1", (3, 5), down=down)) == ""
        assert pushed.yard.plugin("node-1").inventory.gpus[3].lost_links == lost


def test_what_cannot_be_done_is_said(pushed: Pushed) -> None:
    assert "no GPU 9" in pushed.push(pushed.controls.fault("node-1", 9, 79))
    assert "no NVLink between GPU 3 and GPU 3" in pushed.push(
        pushed.controls.link("node-1", (3, 3), down=True)
    )
    assert "node-7" in pushed.push(pushed.controls.fault("node-7", 0, 79))
    assert pushed.push(pushed.controls.submit("nothing")) == "there is no example nothing"
    assert pushed.push(pushed.controls.withdraw("../etc")) == "there is no example ../etc"


def test_an_example_that_cannot_be_read_is_not_offered(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "scenario.yaml").write_text("{")
    made = Pushed(tmp_path)
    assert made.controls.examples() == []
    made.yard.close()
