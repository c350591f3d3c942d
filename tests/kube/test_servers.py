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


def test_a_context_that_a_kubeconfig_does_not_have_is_refused(tmp_path: Path) -> None:
    """What else can be wrong with one, tests/cli/test_commands.py tells."""
    with pytest.raises(NoServerError):
        asyncio.run(server_of(kubeconfig(tmp_path, "http://127.0.0.1:1"), "elsewhere"))
