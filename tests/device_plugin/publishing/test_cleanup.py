"""Clean-up removes what the plugin recorded as its own, and nothing else."""

import asyncio
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_device_plugin.containers import cdi
from gpuyard_device_plugin.main import main
from gpuyard_device_plugin.publishing.cleanup import CleanupError, clean, patch, removed_files
from gpuyard_device_plugin.publishing.publication import difference
from tests.device_plugin.fakes import NODE, MemoryApi, gpus
from tests.device_plugin.test_main import api_server

PATH = f"/api/v1/nodes/{NODE}"
THEIRS = {"nvidia.com/mig.config": "all-disabled", vocabulary.FAKE_GPUS: "true"}


def served() -> MemoryApi:
    """A node on which the plugin has written, beside others."""
    api = MemoryApi({"metadata": {"name": NODE, "labels": dict(THEIRS), "annotations": {"a": "b"}}})
    body = difference(api.objects[PATH], Inventory(gpus(2)), "yard.yaml: broken")
    asyncio.run(api.send(Write("PATCH", PATH, body, PatchType.MERGE)))
    return api


def test_what_is_its_own_goes_and_the_rest_stays() -> None:
    api = served()
    keys = asyncio.run(clean(api, NODE))
    assert {vocabulary.INVENTORY, vocabulary.CONFIG_PROBLEM, "nvidia.com/gpu.product"} < set(keys)
    metadata = api.objects[PATH]["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == (THEIRS, {"a": "b"})
    assert asyncio.run(clean(api, NODE)) == []


def test_a_label_that_somebody_else_has_overwritten_is_theirs() -> None:
    api = served()
    api.objects[PATH]["metadata"]["labels"]["nvidia.com/gpu.count"] = "9"
    asyncio.run(clean(api, NODE))
    assert api.objects[PATH]["metadata"]["labels"] == THEIRS | {"nvidia.com/gpu.count": "9"}


@pytest.mark.parametrize("text", ["[]", "", '{"v":9}'])
def test_without_an_inventory_that_can_be_read_no_label_is_known_as_its_own(text: str) -> None:
    notes = {vocabulary.INVENTORY: text}
    node: JSON = {"metadata": {"annotations": notes, "labels": {"nvidia.com/gpu.count": "8"}}}
    assert patch(node) == {"metadata": {"annotations": {vocabulary.INVENTORY: None}}}


def test_a_node_that_cannot_be_read_or_written_is_named() -> None:
    with pytest.raises(CleanupError, match="node node-1: .*check --node-name"):
        asyncio.run(clean(MemoryApi(), NODE))
    api = served()
    api.failures = 1
    with pytest.raises(CleanupError, match="node node-1: injected; try again"):
        asyncio.run(clean(api, NODE))


def test_only_its_own_files_are_removed(tmp_path: Path) -> None:
    own = [tmp_path / "gpuyard-gpu.sock", tmp_path / cdi.FILE]
    others = [tmp_path / "nvidia-gpu.sock", tmp_path / "kubelet.sock", tmp_path / "nvidia.json"]
    for path in [*own, *others]:
        path.touch()
    assert list(removed_files(tmp_path, tmp_path)) == own
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_the_command_says_what_it_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = ["--device-plugin-dir", str(tmp_path), "--cdi-dir", str(tmp_path)]

    async def story(api: MemoryApi) -> int:
        async with api_server(api) as address:
            arguments = ["cleanup", "--node-name", NODE, "--api", address, *folders]
            return await asyncio.to_thread(main, arguments)

    assert asyncio.run(story(served())) == 0
    assert f"node {NODE}: {vocabulary.INVENTORY}\n" in capsys.readouterr().out
