"""`gpuyard fault` on a cluster that runs: what kubectl would see, and what is refused in one line."""

import pytest

from gpuyard import vocabulary, yard
from gpuyard.annotations import read_inventory
from gpuyard.writes import JSON
from gpuyard_cli import fault_command
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.main import main
from gpuyard_cli.scenarios.injections import DriverFault, gpu_fault, link_fault, node_fault
from gpuyard_cluster.wiring.steps import StepsYard

BRIDGED = [{"model": "NVIDIA-A100-PCIE-40GB", "nvlink": domain} for domain in (0, 0, 1)]
YARD = {
    "nodes": [
        {"name": "node-1", "gpus": {"model": "Tesla-T4", "count": 2}},
        {"name": "bridged", "gpus": BRIDGED},
    ]
}


class Cluster:
    def __init__(self) -> None:
        self._yard = StepsYard(yard.parse(YARD))
        self._settle()

    def inject(self, fault: DriverFault) -> None:
        """The error, if there is one, is raised here and not in the clock's task."""
        self._yard.clock.complete(fault_command.inject(self._yard.api, fault))
        self._settle()

    def allocatable(self) -> str:
        return str(self._node("node-1")["status"]["allocatable"]["nvidia.com/gpu"])

    def lost_links(self) -> list[tuple[int, ...]]:
        inventory = read_inventory(self._node("bridged")["metadata"]["annotations"][vocabulary.INVENTORY])
        assert inventory is not None
        return [gpu.lost_links for gpu in inventory.gpus]

    def _node(self, name: str) -> JSON:
        body: JSON = self._yard.clock.complete(self._yard.api.read(f"/api/v1/nodes/{name}")).body
        return body

    def _settle(self) -> None:
        while self._yard.step() is not None:
            pass


def test_a_gpu_that_fails_is_not_offered_until_it_recovers() -> None:
    cluster = Cluster()
    seen = [cluster.allocatable()]
    for xid in (79, 13, 79, None):
        cluster.inject(gpu_fault("node-1", 1, xid))
        seen.append(cluster.allocatable())
    assert seen == ["2", "1", "2", "1", "2"]


def test_a_node_that_fails_offers_nothing_until_it_recovers() -> None:
    cluster = Cluster()
    seen = []
    for xid in (79, None):
        cluster.inject(node_fault("node-1", xid))
        seen.append(cluster.allocatable())
    assert seen == ["0", "2"]


def test_a_link_that_fails_is_told_in_the_inventory_until_it_recovers() -> None:
    cluster = Cluster()
    seen = []
    for down in (True, False):
        cluster.inject(link_fault("bridged", (1, 0), down=down))
        seen.append(cluster.lost_links())
    assert seen == [[(1,), (0,), ()], [()] * 3]


NO_LINK = "there is no NVLink between GPU"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (gpu_fault("node-2", 0), 'node node-2: nodes "node-2" not found; see kubectl get nodes'),
        (gpu_fault("node-1", 2, 79), "node node-1: there is no GPU 2; it has 0, 1"),
        (link_fault("bridged", (0, 3), down=True), "node bridged: there is no GPU 3; it has 0, 1, 2"),
        (
            link_fault("bridged", (1, 2), down=True),
            f"node bridged: {NO_LINK} 1 and GPU 2; GPU 1 is linked with 0",
        ),
        (
            link_fault("bridged", (2, 2), down=True),
            f"node bridged: {NO_LINK} 2 and GPU 2; GPU 2 is linked with none",
        ),
        (
            link_fault("node-1", (0, 1), down=True),
            f"node node-1: {NO_LINK} 0 and GPU 1; GPU 0 is linked with none",
        ),
    ],
)
def test_what_is_not_there_cannot_fail(fault: DriverFault, said: str) -> None:
    with pytest.raises(InvalidInputError) as found:
        Cluster().inject(fault)
    assert str(found.value) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gpu", "node-1", "0"], "one of the arguments --xid --recover is required"),
        (["gpu", "node-1", "0", "--xid", "79", "--recover"], "not allowed with argument"),
        (["gpu", "node-1", "first", "--recover"], "'first' is not a whole number; give 0 or more"),
        (["gpu", "node-1", "-1", "--recover"], "'-1' is not a whole number"),
        (["node", "node-1", "--xid", "79", "--recover"], "not allowed with argument"),
        (["link", "node-1", "0"], "the following arguments are required: J"),
        ([], "the following arguments are required: KIND"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fault", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "key", "text", "said"),
    [
        (["gpu", "n", "3", "--xid", "48"], "xid-3", "48", "n: GPU 3 has XID 48"),
        (["gpu", "n", "3", "--recover"], "xid-3", None, "n: GPU 3 recovers"),
        (["node", "n"], "xid-all", "79", "n: every GPU has XID 79"),
        (["node", "n", "--recover"], "xid-all", None, "n: every GPU recovers"),
        (["link", "n", "2", "1"], "nvlink-1-2", "down", "n: the NVLink between GPU 2 and GPU 1 is down"),
        (
            ["link", "n", "1", "2", "--recover"],
            "nvlink-1-2",
            None,
            "n: the NVLink between GPU 1 and GPU 2 is up",
        ),
    ],
)
def test_an_order_is_an_annotation_of_the_node(
    words: list[str],
    key: str,
    text: str | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = list[DriverFault]()

    async def inject(_kubeconfig: str | None, fault: DriverFault) -> None:
        given.append(fault)

    monkeypatch.setattr(fault_command, "_inject", inject)
    assert main(["fault", *words]) == 0
    assert [(fault.node, fault.key, fault.text) for fault in given] == [("n", f"gpuyard.io/{key}", text)]
    assert capsys.readouterr().out == f"{said}\n"
