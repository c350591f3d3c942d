"""What a fake container prints of its GPUs is what the mounted script prints in a real one."""

import subprocess
from pathlib import Path

import pytest

from gpuyard import yard
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard_cluster.wiring import gpu_screen
from gpuyard_device_plugin.containers import smi

(NODE,) = yard.parse(
    {
        "nodes": [
            {
                "name": "node-1",
                "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 12},
                "mig": [{"gpus": [1, 11], "instances": {"1g.5gb": 2, "3g.20gb": 1}}],
            }
        ]
    }
)
INVENTORY = Inventory(NODE.gpus, mig_strategy=MigStrategy.MIXED)
WHOLE, SPLIT = NODE.gpus[0], NODE.gpus[1]


def test_a_container_lists_the_devices_that_it_was_given_numbered_anew() -> None:
    granted = [device for device in INVENTORY.devices() if device.gpu in (1, 2)]
    lines = gpu_screen.listing(smi.variables(INVENTORY, granted))
    first, second, third = sorted(SPLIT.instances, key=lambda instance: instance.start)
    assert lines == [
        f"GPU 0: NVIDIA A100-SXM4-40GB (UUID: {SPLIT.uuid})",
        f"  MIG {first.profile}      Device  0: (UUID: {first.uuid})",
        f"  MIG {second.profile}      Device  1: (UUID: {second.uuid})",
        f"  MIG {third.profile}     Device  2: (UUID: {third.uuid})",
        f"GPU 1: NVIDIA A100-SXM4-40GB (UUID: {NODE.gpus[2].uuid})",
    ]


@pytest.mark.parametrize("wanted", [{0}, {1}, {0, 1, 2, 10, 11}])
def test_the_script_in_a_real_container_prints_the_same(wanted: set[int], tmp_path: Path) -> None:
    granted = [device for device in INVENTORY.devices() if device.gpu in wanted]
    environment = smi.variables(INVENTORY, granted)
    done = subprocess.run(
        [str(smi.install(tmp_path)), "-L"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == list(gpu_screen.listing(environment))


def test_a_container_without_devices_prints_nothing() -> None:
    assert list(gpu_screen.listing({"PATH": "/bin", "NVIDIA_VISIBLE_DEVICES": "void"})) == []


def test_what_a_user_wrote_into_the_variables_harms_nobody() -> None:
    assert len(gpu_screen.listing({"GPUYARD_GPU_0": "", "GPUYARD_MIG_0_0": "x", "GPUYARD_GPU_x": "|"})) == 2
