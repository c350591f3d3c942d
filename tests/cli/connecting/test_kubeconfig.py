"""The kubeconfig of `gpuyard up`: written for as long as the cluster lives, and nobody else's is touched."""

import socket
from pathlib import Path

import pytest
import yaml

from gpuyard_cli.connecting import kubeconfig
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cluster.apiserver.auth.certificates import Pair
from gpuyard_cluster.wiring.security import Credentials

CREDENTIALS = Credentials(b"authority", Pair(b"certificate", b"key"), "token")
FOREIGN = "clusters: [{name: production, cluster: {server: https://example.com}}]"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return tmp_path / "home"


def test_it_is_there_while_the_cluster_lives_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "config"
    with kubeconfig.written(file, "https://127.0.0.1:1", "http://127.0.0.1:2", CREDENTIALS):
        found = yaml.safe_load(file.read_text())
        assert found["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"
        assert found["users"][0]["user"]["token"] == "token"
        assert file.stat().st_mode & 0o777 == 0o600
        assert [path.name for path in file.parent.iterdir()] == ["config"]
    assert not file.exists()


def test_one_that_was_written_meanwhile_stays(tmp_path: Path) -> None:
    file = tmp_path / "config"
    with kubeconfig.written(file, "https://127.0.0.1:1", "http://127.0.0.1:2", CREDENTIALS):
        file.write_text(FOREIGN)
    assert file.read_text() == FOREIGN


def test_an_old_one_of_ours_may_be_written_over(tmp_path: Path) -> None:
    file = tmp_path / "config"
    with kubeconfig.written(file, "https://127.0.0.1:1", "http://127.0.0.1:2", CREDENTIALS):
        kubeconfig.check(file)


def test_that_of_a_cluster_which_still_runs_is_not_taken_from_it(tmp_path: Path) -> None:
    file, listening = tmp_path / "config", socket.create_server(("127.0.0.1", 0))
    server = f"https://127.0.0.1:{listening.getsockname()[1]}"
    with (
        listening,
        kubeconfig.written(file, server, "http://127.0.0.1:2", CREDENTIALS),
        pytest.raises(InvalidInputError, match=f"at {server}; end that one, or name another file with"),
    ):
        kubeconfig.check(file)


@pytest.mark.parametrize("content", [FOREIGN, "", "clusters: 7", "{", "\x00"])
def test_one_of_somebody_else_is_not_touched(content: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(content)
    with pytest.raises(InvalidInputError, match="`gpuyard up` has not written it; name another file"):
        kubeconfig.check(file)


def test_the_user_s_own_is_never_written_even_where_there_is_none(home: Path) -> None:
    with pytest.raises(InvalidInputError, match="this one is yours"):
        kubeconfig.check(home / ".kube" / "config")


def test_by_default_each_cluster_has_a_file_of_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kubeconfig.default_path(1) == home / ".local/state/gpuyard/kubeconfig-1.yaml"
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert kubeconfig.default_path(2) == Path("/state/gpuyard/kubeconfig-2.yaml")
