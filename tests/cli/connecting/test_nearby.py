"""The extender of `gpuyard up` is found by the kubeconfig, whatever stands in it besides."""

from pathlib import Path

import pytest
import yaml

from gpuyard_cli.connecting.nearby import extender_of, extension

SERVER, EXTENDER = "https://127.0.0.1:1", "http://127.0.0.1:2"


def written(file: Path, *clusters: object) -> str:
    file.write_text(yaml.safe_dump({"clusters": [{"name": "x", "cluster": found} for found in clusters]}))
    return str(file)


def test_it_is_that_of_the_server_and_of_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {"server": f"{SERVER}/", "extensions": [{"name": "other"}, extension(EXTENDER)]}
    theirs = {"server": "https://example.com"}
    file = written(tmp_path / "a", theirs, ours)
    assert extender_of(SERVER, file) == EXTENDER
    assert extender_of("https://example.com", file) is None
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{file}")
    assert extender_of(SERVER, None) == EXTENDER
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert extender_of(SERVER, None) is None


@pytest.mark.parametrize("content", ["", "7", "{", "clusters: 7", "clusters: [7]", "clusters: [{name: x}]"])
def test_a_file_that_cannot_be_read_names_nobody(content: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(content)
    assert extender_of(SERVER, str(file)) is None


@pytest.mark.parametrize("extensions", [7, [7], [{"name": "gpuyard"}], [{"name": "gpuyard", "extension": 7}]])
def test_an_entry_that_somebody_has_spoilt_names_nobody(extensions: object, tmp_path: Path) -> None:
    file = written(tmp_path / "config", {"server": SERVER, "extensions": extensions})
    assert extender_of(SERVER, file) is None
