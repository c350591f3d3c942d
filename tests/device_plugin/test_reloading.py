"""Files and labels change under a running plugin: it follows what can be used, and says what cannot."""

import os
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_device_plugin.assembly import plugin_spec
from gpuyard_device_plugin.containers import cdi
from gpuyard_device_plugin.ports import Sources
from gpuyard_device_plugin.reloading import Reloading
from tests.device_plugin.fakes import NODE
from tests.device_plugin.world import World

YARD = "nodes: [{name: node-1, gpus: {model: Tesla-T4, count: COUNT}}, {name: other, gpus: []}]"
SHARED = "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}"


class Mounted:
    """A ConfigMap as a kubelet mounts it: files are links into a folder that is swapped as a whole."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder, self._version = folder, 0
        folder.mkdir()
        self.swap(**files)

    def swap(self, **files: str) -> None:
        self._version += 1
        version = self.folder / f"..{self._version}"
        version.mkdir()
        for name, text in files.items():
            (version / name).write_text(text)
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(Path("..data") / name)
        (self.folder / "..new").symlink_to(version.name)
        os.rename(self.folder / "..new", self.folder / "..data")


class Scene:
    def __init__(self, path: Path) -> None:
        self.yard = Mounted(path / "yard", yard=YARD.replace("COUNT", "2"))
        self.configs = Mounted(path / "configs", whole="version: v1", shared=SHARED)
        self.sources = Sources(self.yard.folder / "yard", config=self.configs.folder)
        self.cdi = path / "cdi"
        node: JSON = {"metadata": {"name": NODE}}
        self.world = World(plugin_spec(node, self.sources.yard, None, self.sources.config))
        self.plugin = self.world.plugin
        self.label(None)
        self.reloading = Reloading(self.plugin, self.sources, self.cdi)
        self.look()

    def label(self, name: str | None) -> None:
        node = self.world.api.objects[f"/api/v1/nodes/{NODE}"]
        node["metadata"].setdefault("labels", {})[vocabulary.PLUGIN_CONFIG] = name
        self.plugin.observe("nodes", "MODIFIED", node)

    def look(self) -> None:
        self.reloading.look()
        self.world.settle()

    @property
    def notes(self) -> dict[str, str]:
        found = self.world.api.objects[f"/api/v1/nodes/{NODE}"]["metadata"]
        return found.get("annotations") or {}

    def count(self, health: str = "Healthy") -> int:
        return [device.health for device in self.plugin.devices(vocabulary.GPU)].count(health)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_swapped_config_map_changes_the_devices_and_the_node(scene: Scene) -> None:
    scene.yard.swap(yard=YARD.replace("COUNT", "4"))
    scene.look()
    assert scene.count() == 4
    assert scene.notes[vocabulary.INVENTORY].count('"uuid"') == 4
    scene.yard.swap(yard=YARD.replace("COUNT", "1"))
    scene.look()
    assert (scene.count(), scene.count("Unhealthy")) == (1, 3)


def test_the_nodes_label_chooses_another_configuration(scene: Scene) -> None:
    scene.label("shared")
    scene.look()
    assert scene.count() == 8
    scene.configs.swap(whole="version: v1", shared=SHARED.replace("4", "3"))
    scene.look()
    assert scene.count() == 6


@pytest.mark.parametrize("text", ["nodes: [", "nodes: []", YARD.replace("COUNT", "-1"), "\0"])
def test_what_cannot_be_used_is_said_and_the_last_good_one_stays(
    scene: Scene, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    scene.yard.swap(yard=text)
    scene.look()
    scene.look()
    assert scene.count() == 2
    [record] = caplog.records
    assert "the last good configuration stays in force" in record.message
    assert scene.notes[vocabulary.CONFIG_PROBLEM] in record.message
    scene.yard.swap(yard=YARD.replace("COUNT", "3"))
    scene.look()
    assert scene.count() == 3
    assert vocabulary.CONFIG_PROBLEM not in scene.notes


def test_an_unknown_name_in_the_label_is_said(scene: Scene) -> None:
    scene.label("nowhere")
    scene.look()
    assert "there is no configuration 'nowhere'" in scene.notes[vocabulary.CONFIG_PROBLEM]


def test_mended_by_taking_it_back_is_mended(scene: Scene) -> None:
    good = YARD.replace("COUNT", "2")
    scene.yard.swap(yard="nodes: [")
    scene.look()
    scene.yard.swap(yard=good)
    scene.look()
    assert vocabulary.CONFIG_PROBLEM not in scene.notes


def test_the_cdi_specification_follows_the_configuration(scene: Scene) -> None:
    file = scene.cdi / cdi.FILE
    assert not file.exists()
    scene.configs.swap(whole="flags: {plugin: {deviceListStrategy: cdi-cri}}", shared=SHARED)
    scene.label("whole")
    scene.look()
    assert file.read_text().count('"name"') == 2
    scene.configs.swap(whole="version: v1", shared=SHARED)
    scene.look()
    assert not file.exists()
