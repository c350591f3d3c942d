"""Where the API server is, and who we are there, as a kubeconfig says it."""

import asyncio
from pathlib import Path

import pytest
import yaml

from gpuyard_kube.servers import NoServerError, server_of


def kubeconfig(folder: Path, url: str) -> str:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"{url}/"}}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "here",
    }
    (folder / "config").write_text(yaml.safe_dump(content))
    return str(folder / "config")


def test_the_server_of_a_kubeconfig_is_known_without_its_secrets(tmp_path: Path) -> None:
    found = asyncio.run(server_of(kubeconfig(tmp_path, "http://127.0.0.1:1")))
    assert found.url == "http://127.0.0.1:1"
    assert "secret" not in repr(found)


@pytest.mark.parametrize(("text", "problem"), [(None, "there is no such file"), ("a: [", "while parsing")])
def test_a_kubeconfig_that_cannot_be_read_is_refused(tmp_path: Path, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / "config").write_text(text)
    with pytest.raises(NoServerError, match=problem):
        asyncio.run(server_of(str(tmp_path / "config")))


def test_a_kubeconfig_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoServerError):
        asyncio.run(server_of(str(tmp_path / "absent")))
    with pytest.raises(NoServerError):
        asyncio.run(server_of(kubeconfig(tmp_path, "http://127.0.0.1:1"), "elsewhere"))
