"""Files and the Node object make a plugin, or one line that says what to correct."""

from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.gpus import gpu_uuid
from gpuyard.writes import JSON
from gpuyard_device_plugin.assembly import SetupError, plugin_spec

YARD = """
nodes:
- name: yard-1
  gpus: {model: Tesla-T4, count: 2}
  plugin: {sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}
- name: yard-2
"""


def node(name: str = "worker", **labels: str) -> JSON:
    return {"metadata": {"name": name, "labels": labels}}


def written(path: Path, text: str = YARD, name: str = "yard.yaml") -> Path:
    (path / name).write_text(text)
    return path / name


def test_ids_come_from_the_yards_name_of_the_node_and_not_from_the_workers(tmp_path: Path) -> None:
    spec = plugin_spec(node(), written(tmp_path), "yard-1", None)
    assert spec.node == "worker"
    assert [gpu.uuid for gpu in spec.gpus] == [gpu_uuid("yard-1", 0), gpu_uuid("yard-1", 1)]
    assert spec.config.sharing.replicas == 4


def test_the_nodes_label_says_which_yard_node_it_plays(tmp_path: Path) -> None:
    labelled: JSON = {"metadata": {"name": "worker", "labels": {vocabulary.YARD_NODE: "yard-1"}}}
    assert len(plugin_spec(labelled, written(tmp_path), None, None).gpus) == 2
    assert plugin_spec(node("yard-2"), written(tmp_path), None, None).gpus == ()


def test_nvidias_own_file_goes_first(tmp_path: Path) -> None:
    config = written(tmp_path, "version: v1", "config.yaml")
    assert plugin_spec(node("yard-1"), written(tmp_path), None, config).config.sharing.replicas == 1


def test_of_a_folder_the_nodes_label_chooses(tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    written(folder, "version: v1", "whole")
    written(folder, "sharing: {mps: {resources: [{name: gpu, replicas: 2}]}}", "halves")
    labelled = {"metadata": {"name": "yard-1", "labels": {vocabulary.PLUGIN_CONFIG: "halves"}}}
    assert plugin_spec(labelled, written(tmp_path), None, folder).config.sharing.replicas == 2
    assert plugin_spec(node("yard-1"), written(tmp_path), None, folder).config.sharing.replicas == 4


def test_a_node_that_the_yard_does_not_know_waits_only_where_that_is_configured(tmp_path: Path) -> None:
    patient = written(tmp_path, "flags: {failOnInitError: false}", "patient.yaml")
    assert plugin_spec(node("stranger"), written(tmp_path), None, patient).gpus == ()
    with pytest.raises(SetupError, match="no node 'stranger'"):
        plugin_spec(node("stranger"), written(tmp_path), None, written(tmp_path, "version: v1", "config"))


@pytest.mark.parametrize(
    ("yard", "config", "words"),
    [
        (YARD, "version: v9", "config.yaml: version"),
        (YARD, "{", "config.yaml: line 2: .*; write valid YAML"),
        (YARD, "sharing: {mps: {resources: [{name: gpu, replicas: 99}]}}", "config.yaml: sharing.mps"),
        ("nodes: [{name: yard-1, gpus: {model: Tesla-T4, count: -1}}]", None, "yard.yaml: nodes"),
        ("nodes: []", None, "no node 'yard-1'.*--yard-node: none"),
        (YARD.replace("replicas: 4", "replicas: 1"), None, "yard.yaml: sharing.timeSlicing"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(
    tmp_path: Path, yard: str, config: str | None, words: str
) -> None:
    config_file = None if config is None else written(tmp_path, config, "config.yaml")
    with pytest.raises(SetupError, match=words) as refused:
        plugin_spec(node("yard-1"), written(tmp_path, yard), None, config_file)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nowhere.yaml: No such file"):
        plugin_spec(node(), tmp_path / "nowhere.yaml", None, None)
