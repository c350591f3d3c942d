"""Whatever people write for us: where a key stands twice, of which one would be lost, they are told so."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuyard_cli.imported import cluster
from gpuyard_cli.inputs import named, parsed
from gpuyard_cli.scenarios import examples, yard_files
from gpuyard_device_plugin.assembly import plugin_spec
from gpuyard_extender import settings
from gpuyard_replay import traces
from tests.cli.written import write_example
from tests.test_layout import modules
from tests.test_layout import named as by_name

YARD = "nodes:\n- name: a\n  gpus: {model: Tesla-T4, count: 1}\n"
KEY = r"line {}: the key '{}' stands twice, first in line {}; remove one of them"


def of_example(path: Path) -> object:
    """The file `path`, whose name says which of an example's it is, in a good example."""
    folder = write_example(path.parent / "07-mine")
    place = folder / "objects" if path.name == "pod.yaml" else folder
    (place / path.name).write_text(path.read_text())
    return examples.load(folder)


def of_plugin(yard: Path, config: Path | None = None) -> object:
    return plugin_spec({"metadata": {"name": "a"}}, yard, None, config)


def configured(path: Path) -> object:
    (path.parent / "yard.yaml").write_text(YARD)
    return of_plugin(path.parent / "yard.yaml", path)


def profiles(path: Path) -> object:
    return settings.read(["--profiles", str(path)])


FILES: list[tuple[str, Callable[[Path], object], str, str]] = [
    ("profiles.yaml", profiles, "own: {pack: 1}\nown: {fgd: 2}\n", KEY.format(2, "own", 1)),
    ("profiles.json", profiles, '{"own": {"pack": 1,\n"pack": 2}}', KEY.format(2, "pack", 1)),
    ("yard.yaml", yard_files.load_yard, f"{YARD}  name: b\n", KEY.format(4, "name", 2)),
    ("yard.yaml", of_example, f"{YARD}  name: b\n", KEY.format(4, "name", 2)),
    ("yard.yaml", of_plugin, f"{YARD}  name: b\n", KEY.format(4, "name", 2)),
    ("config.yaml", configured, "version: v1\nflags: {}\nversion: v1\n", KEY.format(3, "version", 1)),
    ("scenario.yaml", of_example, "title: a\nsteps: []\ntitle: b\n", KEY.format(3, "title", 1)),
    ("pod.yaml", of_example, "kind: Pod\nmetadata: {name: a,\n name: b}\n", KEY.format(3, "name", 2)),
    ("asked.yaml", named, "kind: Pod\nkind: Job\n", KEY.format(2, "kind", 1)),
    ("cluster.json", cluster.read, '{"kind": "List",\n"items": [],\n"items": []}', KEY.format(3, "items", 2)),
    (
        "nodes.csv",
        traces.read_nodes,
        "sn,cpu_milli,sn\n",
        "nodes.csv:1: the column sn stands twice; leave out one",
    ),
    ("pods.csv", traces.read_pods, "name,name\n", "pods.csv:1: the column name stands twice; leave out one"),
    (
        "order.csv",
        traces.read_order,
        "N,a,0\nN,a,1\n",
        "order.csv:2: the node a stands twice; leave out one of its lines",
    ),
]


@pytest.mark.parametrize(("name", "read", "content", "said"), FILES)
def test_a_file_in_which_a_key_stands_twice_is_refused(
    name: str,
    read: Callable[[Path], object],
    content: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises((Exception, SystemExit)) as refused:
        read(tmp_path / name)
    told = f"{refused.value} {capsys.readouterr().err}"
    assert name in told
    assert said in told


def test_so_is_what_is_piped_in_and_what_a_program_hands_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("kind: Pod\nkind: Job\n"))
    for read in (lambda: named(Path("-")), lambda: parsed("kind: Pod\nkind: Job\n", "objects")):
        with pytest.raises(Exception, match=re.escape(KEY.format(2, "kind", 1))):
            read()


def test_nobody_else_reads_yaml_that_people_write() -> None:
    """What kubectl and we ourselves have written is read where it is needed; the API server has its own rules."""
    reads = {by_name(path) for path in modules() if re.search(r"yaml\.(safe_)?load", path.read_text())}
    assert reads == {
        "kube/gpuyard_kube/documents.py",
        "cluster/gpuyard_cluster/apiserver/wire/encoding.py",
        "cluster/gpuyard_cluster/wiring/manifests.py",
        "cli/gpuyard_cli/connecting/kubeconfig.py",
        "cli/gpuyard_cli/connecting/nearby.py",
    }
