"""`gpuyard fault gpu` on a cluster that runs: what kubectl would see, and what is refused in one line."""

import pytest

from gpuyard import yard
from gpuyard_cli import fault_command
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.main import main
from gpuyard_cluster.wiring.steps import StepsYard

YARD = {"nodes": [{"name": "node-1", "gpus": {"model": "Tesla-T4", "count": 2}}]}


class Cluster:
    def __init__(self) -> None:
        self._yard = StepsYard(yard.parse(YARD))
        self._settle()

    def inject(self, node: str, index: int, xid: int | None) -> None:
        """The error, if there is one, is raised here and not in the clock's task."""
        self._yard.clock.complete(fault_command.inject(self._yard.api, node, index, xid))
        self._settle()

    def allocatable(self) -> str:
        node = self._yard.clock.complete(self._yard.api.read("/api/v1/nodes/node-1")).body
        return str(node["status"]["allocatable"]["nvidia.com/gpu"])

    def _settle(self) -> None:
        while self._yard.step() is not None:
            pass


def test_a_gpu_that_fails_is_not_offered_until_it_recovers() -> None:
    cluster = Cluster()
    seen = [cluster.allocatable()]
    for xid in (79, 13, 79, None):
        cluster.inject("node-1", 1, xid)
        seen.append(cluster.allocatable())
    assert seen == ["2", "1", "2", "1", "2"]


@pytest.mark.parametrize(
    ("node", "index", "said"),
    [
        ("node-2", 0, 'node node-2: nodes "node-2" not found; see kubectl get nodes'),
        ("node-1", 2, "node node-1: there is no GPU 2; it has 0, 1"),
    ],
)
def test_what_is_not_there_cannot_fail(node: str, index: int, said: str) -> None:
    with pytest.raises(InvalidInputError) as found:
        Cluster().inject(node, index, 79)
    assert str(found.value) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["node-1", "0"], "one of the arguments --xid --recover is required"),
        (["node-1", "0", "--xid", "79", "--recover"], "not allowed with argument"),
        (["node-1", "first", "--recover"], "'first' is not a whole number; give 0 or more"),
        (["node-1", "-1", "--recover"], "'-1' is not a whole number"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fault", "gpu", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
