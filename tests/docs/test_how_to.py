"""The how-tos can be followed: what they have people type is known, what they have people write works."""

import argparse
import re
import shlex
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonpatch
import pytest
import yaml

from gpuyard.policies import registry
from gpuyard.policies.profiles import Weighted
from gpuyard_cli.api import Cluster, replay
from gpuyard_device_plugin import options as plugin_options
from gpuyard_extender import settings as extender_settings
from gpuyard_operator import settings as operator_settings
from tests.docs.markdown import ROOT, documents, read, sections

FOLDER = ROOT / "docs/how-to"
PROGRAMS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "gpuyard-extender": extender_settings.parser,
    "gpuyard-device-plugin": plugin_options.parser,
    "gpuyard-operator": operator_settings.parser,
}


def typed() -> Iterator[tuple[Path, str]]:
    """The lines of all code blocks, joined where they go on."""
    for path in documents():
        for section in read(path):
            for line in "\n".join(section.code).replace("\\\n", " ").splitlines():
                yield path, line.strip()


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_know_what_people_are_to_tell_them(name: str) -> None:
    lines = [line for _, line in typed() if line.startswith(f"{name} -")]
    assert lines, "nobody is told anything: leave the program out"
    for line in lines:
        words = shlex.split(re.split(r" [|>&]", line)[0], comments=True)[1:]
        if "--help" not in words:
            PROGRAMS[name]().parse_args(words)


def test_what_kubectl_is_to_apply_is_there() -> None:
    """Files that begin with a folder of ours; others are the reader's own."""
    named = [
        (path, found)
        for path, line in typed()
        if line.startswith("kubectl ")
        for found in re.findall(r" -[fk] ([\w./-]+)", line)
        if (ROOT / found.split("/")[0]).is_dir()
    ]
    assert len(named) > 10
    assert [f"{path.name}: {found}" for path, found in named if not (ROOT / found).exists()] == []


def test_files_that_are_shown_can_be_read() -> None:
    pages = [path for path in documents() if ROOT / "docs" in path.parents]
    shown = [(yaml.safe_load, text) for path in pages for text in blocks(path, "yaml")]
    plain = [text for path in pages for text in blocks(path, "python") if not text.startswith(">>>")]
    assert all(load(text) for load, text in shown)
    assert shown
    assert [compile(text, "page", "exec") for text in plain]


def test_the_policy_that_is_shown_keeps_a_gpu_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = blocks(FOLDER / "write-a-policy.md", "python")
    module = types.ModuleType("my_policies")
    exec(code, module.__dict__)
    monkeypatch.setattr(registry, "POLICIES", {**registry.POLICIES, "reserve": module.reserve})
    with Cluster("t4x2", policy="reserve") as cluster:
        for number in range(6):
            cluster.apply(_pod(f"one-{number}"))
        assert {node: free["nvidia.com/gpu"] for node, free in cluster.free().items()} == {
            "t4-1": 1,
            "t4-2": 1,
        }
    assert replay(ROOT / "replay/traces/small/pods.csv", ["reserve"])["reserve"].failed


def test_the_profiles_that_are_shown_are_read_by_the_deployment_once_it_is_changed_as_shown(
    tmp_path: Path,
) -> None:
    written, patch = blocks(FOLDER / "write-a-policy.md", "yaml")
    deployment = yaml.safe_load((ROOT / "manifests/extender-deployment.yaml").read_text())
    pod = jsonpatch.apply_patch(deployment, yaml.safe_load(patch))["spec"]["template"]["spec"]
    [container] = pod["containers"]
    [mount], [volume] = container["volumeMounts"], pod["volumes"]
    assert (mount["name"], volume["configMap"]) == (volume["name"], {"name": "gpuyard-profiles"})
    (tmp_path / "profiles.yaml").write_text(written)
    replaced = {"$(POD_IP)": "10.0.0.1", mount["mountPath"]: str(tmp_path)}
    arguments = " ".join(container["args"])
    for here, there in replaced.items():
        arguments = arguments.replace(here, there)
    assert isinstance(extender_settings.read(arguments.split()).policy, Weighted)


def _pod(name: str) -> str:
    limits = "{nvidia.com/gpu: 1}"
    container = f"{{name: main, image: 'busybox:1.36', resources: {{limits: {limits}}}}}"
    return f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{containers: [{container}]}}}}"


def test_every_how_to_has_sections_and_something_to_do() -> None:
    for path in FOLDER.glob("*.md"):
        found = sections(path.read_text("utf-8"))
        assert found[0].level == 1
        assert any(section.code for section in found), path.name
