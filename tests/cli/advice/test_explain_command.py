"""`gpuyard explain`: what people read, and what programs do."""

import json
from collections.abc import Callable

import pytest
import yaml

from gpuyard_cli import extender_access
from gpuyard_cli.main import main
from tests.cli.asked import Cluster, connected
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group

Install = Callable[[Cluster], None]


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Let the command ask this cluster."""

    def install(cluster: Cluster) -> None:
        monkeypatch.setattr(extender_access, "connected", connected(cluster))

    return install


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def busy(gpus: int = 2) -> Stage:
    """One node, all of whose GPUs but one are held by `old`."""
    stage = Stage(gpu_node("node-1", gpus))
    held = [device("node-1", i) for i in range(1, gpus)]
    stage.create(gpu_pod("old", gpus - 1, node="node-1", truth=held, phase="Running"))
    return stage


def test_a_waiting_pod_is_told_what_is_missing_and_what_would_help(
    asking: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = busy()
    stage.create(gpu_pod("late", 2))
    asking(Cluster(stage))
    assert explained(capsys, "pod", "late") == [
        "default/late waits: InsufficientGPUs: not enough free GPUs",
        "",
        "  NODES  REASON                WHICH",
        "      1  InsufficientGPUs      node-1",
        "         needs 2 GPUs, 1 free of 2",
        "         to change: GPUs have to become free, or the pod asks for fewer",
        "",
        "What would make it fit, each by itself:",
        "  - ask for 1 nvidia.com/gpu instead of 2",
        "  - add 1 node like node-1",
        "  - wait until 1 pod ends: default/old",
    ]


def test_a_thousand_nodes_take_a_few_lines(asking: Install, capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(*(gpu_node(f"n{i:03}", i % 8, inventory=False) for i in range(1000)))
    stage.create(gpu_pod("huge", 9))
    asking(Cluster(stage))
    lines = explained(capsys, "pod", "huge")
    assert len(lines) < 20
    assert "    875  InsufficientGPUs      n001, n002, n003 and 872 more" in lines
    assert "         125 × needs 9 GPUs, 1 free of 1 allocatable" in lines
    assert "         and 3 more wordings: see -o json" in lines
    assert "    125  NoSuchResource        n000, n008, n016 and 122 more" in lines


def test_nodes_that_would_do_are_named_first(asking: Install, capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(gpu_node("big", 4), gpu_node("small", 1))
    stage.create(gpu_pod("late", 2), gpu_pod("done", node="big", phase="Running"))
    asking(Cluster(stage))
    first, *_ = explained(capsys, "pod", "late")
    assert first == "default/late would fit on big; its events say what the scheduler made of it"
    assert explained(capsys, "pod", "done") == ["default/done does not wait: it is Running on big"]


def test_a_gang_is_told_with_its_members_and_what_would_help_all_of_it(
    asking: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, group = busy(3), pod_group("g", 2)
    stage.extender.observe("podgroups", "ADDED", group)
    stage.create(gpu_pod("m0", group="g"), gpu_pod("m1", group="g"))
    asking(Cluster(stage, group))
    lines = explained(capsys, "podgroup", "g")
    assert lines[:4] == [
        "default/g waits: GangUnplaceable: the pod group does not fit as a whole",
        "  no node for member m1",
        "  m0                              Pending     -",
        "  m1                              Pending     -",
    ]
    assert lines[-4:] == [
        "What would make it fit, each by itself:",
        "  - ask for 1 pod instead of 2",
        "  - add 1 node like node-1",
        "  - wait until 1 pod ends: default/old",
    ]
    assert explained(capsys, "pod", "m1")[-4:] == lines[-4:]


def test_programs_get_the_same_as_json_or_yaml(asking: Install, capsys: pytest.CaptureFixture[str]) -> None:
    stage = busy()
    stage.create(gpu_pod("late", 2))
    asking(Cluster(stage))
    found = json.loads("\n".join(explained(capsys, "pod", "late", "-o", "json")))
    assert found == yaml.safe_load("\n".join(explained(capsys, "pod", "late", "-o", "yaml")))
    assert found["nodes"] == [
        {"node": "node-1", "reason": "InsufficientGPUs", "detail": "needs 2 GPUs, 1 free of 2"}
    ]
    assert [remedy["kind"] for remedy in found["remedies"]] == ["Fewer", "MoreNodes", "Ends"]


def test_an_extender_that_knows_no_remedies_explains_all_the_same(
    asking: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = busy()
    stage.create(gpu_pod("late", 2))
    cluster = Cluster(stage)
    cluster.simulates = False
    asking(cluster)
    assert explained(capsys, "pod", "late")[-1].strip().startswith("to change:")


def test_a_pod_that_is_not_there_exits_2_with_a_remedy(
    asking: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    asking(Cluster(Stage()))
    assert main(["explain", "pod", "nobody", "-n", "x"]) == 2
    assert capsys.readouterr().err == (
        "gpuyard: pod x/nobody: no pod x/nobody is known; "
        "see kubectl get pods,podgroups -A, and give its namespace with -n\n"
    )
    assert main(["explain", "podgroup", "nobody"]) == 2
    assert "no pod group default/nobody is known" in capsys.readouterr().err
