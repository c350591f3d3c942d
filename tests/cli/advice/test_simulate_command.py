"""`gpuyard simulate`: a file in, places or remedies out."""

import io
import json
from pathlib import Path

import pytest
import yaml

from gpuyard import vocabulary
from gpuyard.hardware.presets import presets
from gpuyard_cli import extender_access
from gpuyard_cli.advice.added_nodes import added
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.main import main
from gpuyard_extender.advice.simulation_nodes import read
from tests.cli.asked import Cluster, connected
from tests.extender.builders import Stage, device, gpu_node, gpu_pod, pod_group

GPU = vocabulary.GPU


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Two nodes with two GPUs each."""
    found = Cluster(Stage(gpu_node("node-1", 2), gpu_node("node-2", 2)))
    monkeypatch.setattr(extender_access, "connected", connected(found))
    return found


@pytest.fixture
def file(tmp_path: Path, cluster: Cluster) -> Path:
    """A job of three pods with two GPUs each, and a Service."""
    job = {
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"parallelism": 3, "template": {"spec": gpu_pod("x", 2)["spec"]}},
    }
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump_all([job, {"kind": "Service", "metadata": {"name": "web"}}]))
    return path


def test_what_fits_in_part_exits_1_and_says_what_would_help(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "-f", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Job default/train does not fit: 2 of 3 pods do",
        *(
            f"  train-{i:<26}{node:<24}train: nvidia.com/gpu "
            + ", ".join(f"{device(node, j)[:12]}…" for j in range(2))
            for i, node in enumerate(["node-1", "node-2"])
        ),
        "  train-2; InsufficientGPUs: not enough free GPUs; all 3 members need 6 nvidia.com/gpu, all nodes have 4",
        "",
        "  NODES  REASON                WHICH",
        "      2  InsufficientGPUs      node-1, node-2",
        "         needs 2 GPUs, 0 free of 2",
        "         to change: GPUs have to become free, or the pod asks for fewer",
        "",
        "What would make it fit, each by itself:",
        "  - ask for 2 pods instead of 3",
        "  - ask for 1 nvidia.com/gpu instead of 2",
        "  - add 1 node like node-1",
        "",
        "left out, since they bring no pods: Service web",
    ]


def test_a_pod_that_cannot_be_understood_is_no_number(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod = gpu_pod("bad", 1)
    pod["metadata"]["annotations"] = {vocabulary.GPU_MILLI: "1500"}
    file.write_text(yaml.safe_dump({"kind": "Pod", **pod}))
    assert main(["simulate", "-f", str(file)]) == 1
    assert capsys.readouterr().out.startswith("Pod default/bad does not fit\n  InvalidRequest")


def test_a_gang_is_judged_by_the_quota_of_its_queue_in_the_cluster(
    cluster: Cluster, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.queues = [
        {"metadata": {"name": "team"}, "spec": {"quota": {GPU: 3}}, "status": {"used": {GPU: "2"}}}
    ]
    group = pod_group("g", 2)
    group["metadata"]["annotations"] = {vocabulary.QUEUE: "team"}
    members = [{"kind": "Pod", **gpu_pod(f"m{i}", 1, group="g")} for i in range(2)]
    file.write_text(yaml.safe_dump_all([{"kind": "PodGroup", **group}, *members]))
    assert main(["simulate", "-f", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "PodGroup default/g does not fit: all 2 start together or none",
        "  QuotaExceeded: the queue's quota is used up; queue team: nvidia.com/gpu: needs 2, 1 left of 3",
        "  to change: work of the queue has to end, or its quota is raised",
    ]


def test_objects_are_in_a_file_a_folder_or_piped_in(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(file.read_text()))
    for given in (file, file.parent, "-"):
        assert main(["simulate", "-f", str(given), "-o", "json"]) == 1
        assert json.loads(capsys.readouterr().out)["ignored"] == ["Service web"]
    file.rename(file.with_suffix(".txt"))
    assert main(["simulate", "-f", str(file.parent)]) == 2
    assert "no file of it ends in .yaml, .yml or .json; name another folder" in capsys.readouterr().err


def test_with_the_nodes_that_are_missing_it_fits_and_exits_0(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "-f", str(file), "--add-nodes", "1xdgx-h100", "-o", "json"]) == 0
    [outcome] = json.loads(capsys.readouterr().out)["outcomes"]
    assert len(outcome["placed"]) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("kind: Job\nmetadata: {name: x}\nspec: {}", "objects[0].spec.template: an object is needed"),
        ("kind: Service\nmetadata: {name: x}", "objects: none of them brings pods"),
        ("", "objects: List should have at least 1 item"),
        ("- 7", "objects.0: Input should be a valid dictionary"),
    ],
)
def test_what_cannot_be_asked_exits_2_with_the_file_and_the_field(
    content: str, said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(content)
    assert main(["simulate", "-f", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"gpuyard: {file}: {said}")
    assert error.endswith("; change that field\n")


@pytest.mark.parametrize("wanted", ["", "0xdgx-h100", "dgx-9", "-1xt4", "2x", "xt4"])
def test_a_preset_that_there_is_not_is_answered_with_all_that_there_are(wanted: str) -> None:
    with pytest.raises(InvalidInputError, match=r"write 2xPRESET with one of dgx-a100, dgx-h100"):
        added([wanted])


def test_every_preset_is_a_node_that_the_extender_understands() -> None:
    made = read(added([*presets(), "2xt4"]), "addNodes", {})
    assert len(made) == len(presets()) + 2
    whole = made["added-dgx-h100-1"]
    assert (len(whole.free(vocabulary.GPU)), whole.fit.allocatable[vocabulary.GPU]) == (8, 8)
    assert whole.fit.labels[vocabulary.PRODUCT_LABEL].startswith("NVIDIA-H100")
    cut = made["added-a100-mig-1"]
    assert cut.fit.allocatable["nvidia.com/mig-1g.10gb"] == len(cut.free("nvidia.com/mig-1g.10gb")) == 16
