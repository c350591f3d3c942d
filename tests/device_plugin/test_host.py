"""A fake keeps away from real GPUs, and says what it saw."""

from pathlib import Path

from gpuyard import vocabulary
from gpuyard_device_plugin.host import findings, node_findings


def folder(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).touch()
    return path


def test_a_host_without_gpus_is_fine(tmp_path: Path) -> None:
    plugins = folder(tmp_path / "plugins", "kubelet.sock", "gpuyard-gpu.sock")
    assert list(findings(plugins, tmp_path)) == []


def test_a_real_driver_is_named(tmp_path: Path) -> None:
    folder(tmp_path, "proc/driver/nvidia/version", "dev/nvidiactl")
    found = list(findings(tmp_path, tmp_path))
    assert len(found) == 2
    assert all("driver" in text for text in found)


def test_another_plugins_socket_is_named(tmp_path: Path) -> None:
    plugins = folder(tmp_path / "plugins", "nvidia-gpu.sock")
    assert "nvidia-gpu.sock" in next(iter(findings(plugins, tmp_path)))


def test_the_node_must_ask_for_a_fake() -> None:
    assert vocabulary.FAKE_GPUS in next(iter(node_findings({"metadata": {}})))
    assert list(node_findings({"metadata": {"labels": {vocabulary.FAKE_GPUS: "true"}}})) == []


def test_labels_of_gpu_feature_discovery_count_unless_they_are_ours() -> None:
    labels = {vocabulary.FAKE_GPUS: "true", "nvidia.com/gpu.product": "Tesla-T4"}
    assert "GPU feature discovery" in next(iter(node_findings({"metadata": {"labels": labels}})))
    ours = {"labels": labels, "annotations": {vocabulary.INVENTORY: "{}"}}
    assert list(node_findings({"metadata": ours})) == []
