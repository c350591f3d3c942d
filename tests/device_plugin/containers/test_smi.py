"""The nvidia-smi of a container, run by the shells of small images with just what Allocate gave."""

import dataclasses
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.hardware.models import MODELS
from gpuyard_device_plugin.containers import smi
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.service import DevicePlugin
from tests.device_plugin.fakes import NODE, gpus
from tests.device_plugin.world import World

SHELLS = [["/bin/sh"], *([found, "sh"] for name in ("busybox",) if (found := shutil.which(name)))]
TWO = gpus(2)
PARTS = (Instance("1g.5gb+me", 3, 1, "MIG-a"), Instance("3g.20gb", 4, 4, "MIG-b"))
SPLIT = Inventory(gpus(1, mig_enabled=True, instances=PARTS), mig_strategy=MigStrategy.MIXED)


@pytest.fixture(params=SHELLS, ids=lambda words: Path(words[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


class Container:
    """Runs the script with nothing but an environment: no PATH, no other program."""

    def __init__(self, shell: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._words, self._environment = [*shell, str(smi.install(folder))], environment

    def prints(self, *arguments: str, code: int = 0) -> list[str]:
        words, environment = [*self._words, *arguments], {**self._environment, "PATH": ""}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (code, "")
        return done.stdout.splitlines()


@pytest.fixture
def two(shell: list[str], tmp_path: Path) -> Container:
    inventory = Inventory(TWO)
    return Container(shell, tmp_path, smi.variables(inventory, inventory.devices()))


@pytest.fixture
def split(shell: list[str], tmp_path: Path) -> Container:
    """Two resources, two grants, one GPU."""
    found: dict[str, str] = {}
    for device in SPLIT.devices():
        given = smi.variables(SPLIT, [device])
        assert not any(found.get(key, value) != value for key, value in given.items())
        found |= given
    return Container(shell, tmp_path, found)


def test_it_lists_gpus_and_instances(two: Container, split: Container) -> None:
    assert two.prints("-L") == [f"GPU {g.index}: NVIDIA A100-SXM4-40GB (UUID: {g.uuid})" for g in TWO]
    assert split.prints("-L")[1:] == [
        "  MIG 1g.5gb+me   Device  0: (UUID: MIG-a)",
        "  MIG 3g.20gb     Device  1: (UUID: MIG-b)",
    ]


def test_a_query_answers_in_csv_with_head_and_units(two: Container) -> None:
    fields = "--query-gpu=index,name,memory.total,memory.free,utilization.gpu,driver_version"
    assert two.prints(fields, "--format=csv") == [
        "index, name, memory.total [MiB], memory.free [MiB], utilization.gpu [%], driver_version",
        "0, NVIDIA A100-SXM4-40GB, 40960 MiB, 0 MiB, 100 %, [N/A]",
        "1, NVIDIA A100-SXM4-40GB, 40960 MiB, 0 MiB, 100 %, [N/A]",
    ]


def test_a_query_can_do_without_either(two: Container) -> None:
    fields = "--query-gpu=uuid,memory.used,count"
    lines = [f"{gpu.uuid}, 40960, 2" for gpu in TWO]
    assert two.prints(fields, "--format=csv,noheader,nounits") == lines
    assert two.prints("--format=csv,nounits", "--query-gpu=memory.used") == [
        "memory.used [MiB]",
        "40960",
        "40960",
    ]


def test_of_a_sliced_gpu_the_instances_are_used_and_nobody_knows_how_busy_they_are(split: Container) -> None:
    fields = "--query-gpu=memory.used,utilization.gpu,mig.mode.current"
    assert split.prints(fields, "--format=csv,noheader") == ["25600 MiB, [N/A], Enabled"]


def test_instances_are_told_with_their_ids_and_places(two: Container, split: Container) -> None:
    rows = [line.split() for line in split.prints("mig", "-lgi")[5:-1]]
    assert rows == [
        ["|", "0", "MIG", "1g.5gb+me", "20", "10", "3:1", "|"],
        ["|", "0", "MIG", "3g.20gb", "9", "2", "4:4", "|"],
    ]
    assert two.prints("mig", "-lgi", code=6) == ["No MIG-enabled devices found."]


def test_the_table_holds_every_device_in_lines_of_one_length(two: Container, split: Container) -> None:
    for container, names in ((two, ["A100"] * 2), (split, ["A100", "MIG 1g.5gb+me", "MIG 3g.20gb"])):
        lines = container.prints()
        assert {len(line) for line in lines} == {len(lines[0])}
        assert all(name in line for name, line in zip(names, lines[5:-1], strict=True))
    assert len({len(line) for line in split.prints("mig", "-lgi")}) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--query-gpu=colour", "--format=csv"], 'Field "colour" is not a valid field to query.'),
        (["--query-gpu=name"], 'Format "csv" must be given: --format=csv[,noheader][,nounits].'),
        (["--query-gpu=name", "--format=csv,big"], '"big" is not a valid format option.'),
        (["--format=csv"], "--format goes with --query-gpu."),
        (["topo", "-m"], 'Option "topo" is not known here; -L, --query-gpu=, --format= and mig -lgi are.'),
        (["mig", "-cgi"], 'Of MIG only "mig -lgi" is known here.'),
    ],
)
def test_what_it_cannot_answer_it_says_once(two: Container, arguments: list[str], text: str) -> None:
    assert two.prints(*arguments, code=2) == [text]


def test_a_container_without_gpus_has_none(shell: list[str], tmp_path: Path) -> None:
    assert Container(shell, tmp_path, {}).prints(code=6) == ["No devices were found"]


def test_a_share_uses_its_part_of_the_gpu(shell: list[str], tmp_path: Path) -> None:
    inventory = Inventory(gpus(1), Sharing(SharingMode.TIME_SLICING, 4, renamed=True))
    container = Container(shell, tmp_path, smi.variables(inventory, inventory.devices()[:1]))
    fields = "--query-gpu=memory.total,memory.used,utilization.gpu"
    assert container.prints(fields, "--format=csv,noheader,nounits") == ["40960, 10240, 25"]


def test_a_model_has_the_name_that_hardware_shows_and_an_unknown_one_its_own() -> None:
    [gpu] = gpus(1)
    for model in (*(model.product for model in MODELS), "Future-1"):
        inventory = Inventory((dataclasses.replace(gpu, model=model),))
        name = smi.variables(inventory, inventory.devices())["GPUYARD_GPU_0"].split("|")[1]
        assert name == "Future-1" or name in {model.name for model in MODELS}


@pytest.mark.parametrize("installed", [True, False])
def test_allocate_gives_the_variables_and_mounts_the_script_where_there_is_one(
    *, installed: bool, tmp_path: Path
) -> None:
    world = World(PluginSpec(NODE, TWO))
    script = smi.install(tmp_path) if installed else None
    plugin = DevicePlugin(world.spec, Ports(world.api, world.steps, world.kubelet, smi=script))
    asked = kubelet.AllocateRequest(
        container_requests=[kubelet.ContainerAllocateRequest(devices_ids=[TWO[1].uuid])]
    )
    [given] = world.run(plugin.allocate(vocabulary.GPU, asked)).container_responses
    assert [name for name in given.envs if name.startswith("GPUYARD_")] == ["GPUYARD_GPU_1"]
    mounts = [(mount.container_path, mount.host_path, mount.read_only) for mount in given.mounts]
    assert mounts == ([("/usr/bin/nvidia-smi", str(script), True)] if installed else [])


def test_the_script_is_put_anew_for_everyone_to_run_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    first = smi.install(tmp_path / "tools")
    before = first.stat().st_ino
    assert smi.install(tmp_path / "tools").stat().st_ino != before
    assert os.access(first, os.X_OK)
    assert first.stat().st_mode & 0o777 == 0o755
    assert list(first.parent.iterdir()) == [first]
