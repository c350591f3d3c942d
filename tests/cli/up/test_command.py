"""`gpuyard up` as a process of its own, and the official client over the kubeconfig that it writes."""

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config, watch

from gpuyard_cli.main import main

COMMAND = [sys.executable, "-c", "import sys; from gpuyard_cli.main import main; sys.exit(main())", "up"]
READY = "Ctrl-C ends it all."
CONTAINER = {"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "2"}}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}, "spec": {"containers": [CONTAINER]}}


class Up:
    """A process that has its state and its temporary files in a folder of its own."""

    def __init__(self, *arguments: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gy-"))  # short: unix sockets lie in it
        self.temporary, self.state = self.folder / "t", self.folder / "s"
        self.temporary.mkdir()
        places = {"TMPDIR": str(self.temporary), "XDG_STATE_HOME": str(self.state)}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **places},
        )
        self.said = list[str]()
        self.left_open: Any = None

    def ready(self) -> "Up":
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.strip())
            if self.said[-1] == READY:
                return self
        pytest.fail("\n".join(self.said))

    @property
    def kubeconfig(self) -> Path:
        (line,) = [line for line in self.said if line.startswith("export KUBECONFIG=")]
        return Path(line.partition("=")[2])

    def end(self, number: int) -> tuple[int, str]:
        """Exit code, and what was printed after all; how far it had come does not count."""
        self.process.send_signal(number)
        rest, complaints = self.process.communicate(timeout=30)
        lines = [line for line in complaints.splitlines() if not line.startswith("starting: ")]
        return self.process.returncode, "\n".join([*rest.splitlines(), *lines])

    def left(self) -> list[str]:
        """Files that are still there, and not only folders."""
        return [str(path) for path in self.folder.rglob("*") if not path.is_dir()]

    def close(self) -> None:
        if self.left_open is not None:
            self.left_open.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with contextlib.closing(Up("--preset", "dgx-a100", "--preset", "t4x2")) as started:
        yield started.ready()
        assert started.end(signal.SIGTERM) == (0, "")
        assert started.left() == []
        assert list(started.temporary.iterdir()) == []


@contextlib.contextmanager
def core(document: dict[str, Any]) -> Iterator[client.CoreV1Api]:
    settings = client.Configuration()
    config.load_kube_config_from_dict(document, client_configuration=settings)
    with client.ApiClient(settings) as connected:
        yield client.CoreV1Api(connected)


def kubeconfig(up: Up, *without: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(up.kubeconfig.read_text())
    for key in without:
        del found["users"][0]["user"][key]
    return found


CERTIFICATE, TOKEN = ("client-certificate-data", "client-key-data"), ("token",)


def test_the_screen_names_the_nodes_the_kubeconfig_and_what_to_try(up: Up) -> None:
    assert up.said[0].startswith("Kubernetes v1.36.3+gpuyard with 3 nodes, ready in ")
    assert "t4-1 … t4-2: 4 x Tesla-T4, 4 nvidia.com/gpu" in up.said
    assert sum(line.startswith("kubectl ") for line in up.said) == 3
    assert up.kubeconfig.parent == up.state / "gpuyard"
    assert up.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_its_accounts_are_compared_as_far_as_they_can_be_asked_for(
    up: Up, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--kubeconfig", str(up.kubeconfig)]) == 0
    said, note = capsys.readouterr()
    assert said == "all accounts agree\n"
    assert note.startswith("note: of `gpuyard up` the pods' status, the plans and the extender are compared")


def test_the_page_streams_the_nodes_and_an_open_stream_keeps_nothing_from_ending(up: Up) -> None:
    [line] = [line for line in up.said if line.endswith("/ui/;")]
    url = line.partition("browser: ")[2].rstrip(";")
    stream = urllib.request.urlopen(
        f"{url}events", timeout=30
    )  # open until the end, which `up` asserts to be quiet
    told = ""
    while '"dgx-a100-1"' not in told:
        told = stream.readline().decode()
    up.left_open = stream


def test_the_official_client_sees_the_nodes_and_runs_a_pod_on_gpus(up: Up) -> None:
    with core(kubeconfig(up)) as api:
        offered = {
            node.metadata.name: node.status.allocatable["nvidia.com/gpu"] for node in api.list_node().items
        }
        assert offered == {"dgx-a100-1": "8", "t4-1": "4", "t4-2": "4"}
        made = api.create_namespaced_pod("default", POD)
        assert made.metadata.managed_fields[0].manager == "OpenAPI-Generator"
        version = made.metadata.resource_version
        for event in watch.Watch().stream(
            api.list_namespaced_pod, "default", resource_version=version, timeout_seconds=30
        ):
            if event["object"].status.phase == "Running":
                break
        found = api.read_namespaced_pod("two", "default")
        (held,) = found.status.container_statuses[0].allocated_resources_status
        assert (held.name, len({device.resource_id for device in held.resources})) == ("nvidia.com/gpu", 2)
        assert all(device.resource_id.startswith("GPU-") for device in held.resources)
        assert "NVIDIA_VISIBLE_DEVICES=GPU-" in api.read_namespaced_pod_log("two", "default")
        managers = {entry.manager for entry in found.metadata.managed_fields}
        assert {"kubelet", "OpenAPI-Generator"} <= managers


@pytest.mark.parametrize(("policy", "nodes"), [("pack", 1), ("spread", 2)])
def test_pods_go_where_the_chosen_policy_wants_them(policy: str, nodes: int) -> None:
    with contextlib.closing(Up("--preset", "t4x2", "--policy", policy)) as started:
        with core(kubeconfig(started.ready())) as api:
            for name in ("first", "second"):
                api.create_namespaced_pod("default", {**POD, "metadata": {"name": name}})
                for event in watch.Watch().stream(
                    api.list_namespaced_pod,
                    "default",
                    timeout_seconds=30,
                    field_selector=f"metadata.name={name}",
                ):
                    if event["object"].spec.node_name:
                        break
            found = {pod.spec.node_name for pod in api.list_namespaced_pod("default").items}
        assert len(found) == nodes
        assert started.end(signal.SIGINT)[0] == 0


def test_its_extender_is_found_by_its_kubeconfig(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pod", "nobody", "--kubeconfig", str(up.kubeconfig)]) == 2
    assert "no pod default/nobody is known" in capsys.readouterr().err


@pytest.mark.parametrize("without", [CERTIFICATE, TOKEN])
def test_certificate_and_token_are_each_enough(up: Up, without: tuple[str, ...]) -> None:
    with core(kubeconfig(up, *without)) as api:
        review = client.AuthenticationV1Api(api.api_client).create_self_subject_review({})
        assert review.status.user_info.username == "kubernetes-admin"
        assert review.status.user_info.groups == ["system:masters", "system:authenticated"]


def test_without_either_nothing_is_answered_but_health(up: Up) -> None:
    with core(kubeconfig(up, *CERTIFICATE, *TOKEN)) as api:
        with pytest.raises(client.ApiException) as refused:
            api.list_node()
        assert (refused.value.status, refused.value.reason) == (401, "Unauthorized")
        assert client.VersionApi(api.api_client).get_code().major == "1"


def test_nobody_is_believed_to_be_the_server_without_its_authority(up: Up) -> None:
    server = kubeconfig(up)["clusters"][0]["cluster"]["server"]
    with pytest.raises(urllib.error.URLError) as refused:
        urllib.request.urlopen(f"{server}/healthz", context=ssl.create_default_context())
    assert isinstance(refused.value.reason, ssl.SSLCertVerificationError)


def test_ctrl_c_while_it_starts_ends_it_and_leaves_nothing() -> None:
    with contextlib.closing(Up()) as started:
        while not list(started.temporary.glob("yard-*")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with {started.process.wait(timeout=0.02)}")
        assert started.end(signal.SIGINT) == (0, "")
        assert started.left() == []
        assert list(started.temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--preset", "dgx"), "--preset: 'dgx' is unknown; use dgx-a100, "),
        (("--preset", "t4x0"), "--preset: 0 nodes; ask for 1 to 5000"),
        (("--preset", "t4x2000000"), "--preset: 2000000 nodes; ask for 1 to 5000"),
        (("--policy", "best"), "--policy: 'best' is unknown; use bestfit, "),
        (("--nodes", "nowhere.yaml"), "nowhere.yaml: No such file or directory; "),
        (("--import", "nowhere.yaml"), "nowhere.yaml: No such file or directory; "),
        (("--kubeconfig", "/nowhere/at/all"), "/nowhere/at/all: its folder does not exist; "),
    ],
)
def test_what_it_cannot_do_is_said_in_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gpuyard: {said}")
    assert done.stderr.count("\n") == 1


def test_a_port_that_somebody_has_is_said_and_nothing_stays() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with contextlib.closing(Up("--port", str(port))) as started:
            printed, complaint = started.process.communicate(timeout=60)
            assert (started.process.returncode, printed) == (2, "")
            assert complaint.startswith(f"gpuyard: --port {port}: Address already in use")
            assert list(started.temporary.iterdir()) == []
