"""etcd, kube-apiserver and kube-scheduler as processes of this machine, on loopback: the real ones, no container.

The folder of programs is that of `kind/programs.sh` (~/.cache/gpuyard/kind/bin), or any other that has them;
openssl makes a key.
"""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

TOKEN = "benchmark"
LOG_BYTES = 4000
CLIENT_RATE = 5000
"""Requests a second that kube-scheduler may send: its own limit of 50 would be all that is measured."""


@contextlib.contextmanager
def api_server(programs: Path) -> Iterator[str]:
    """A kube-apiserver that lets everybody do everything: the path of a kubeconfig."""
    with tempfile.TemporaryDirectory() as name:
        folder, (client, peer, port) = Path(name), _free_ports(3)
        key = _service_account_key(folder)
        (folder / "tokens").write_text(f"{TOKEN},benchmark,benchmark,system:masters\n")
        store = f"http://127.0.0.1:{client}"
        etcd = _etcd(folder, store, f"http://127.0.0.1:{peer}")
        served = [
            f"--etcd-servers={store}", f"--secure-port={port}", "--bind-address=127.0.0.1",
            f"--cert-dir={folder}", f"--token-auth-file={folder / 'tokens'}", "--authorization-mode=AlwaysAllow",
            "--service-account-issuer=https://benchmark", f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}", "--service-cluster-ip-range=10.0.0.0/24",
            # There are no controllers that would make accounts, and no address but loopback.
            "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
        ]  # fmt: skip
        with _running(programs / "etcd", etcd), _running(programs / "kube-apiserver", served):
            yield str(_kubeconfig(folder, port))


@contextlib.contextmanager
def scheduler(programs: Path, kubeconfig: str, name: str, extender: dict[str, Any]) -> Iterator[None]:
    """A kube-scheduler for the pods that name it, with one extender."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": kubeconfig, "qps": CLIENT_RATE, "burst": CLIENT_RATE},
            "leaderElection": {"leaderElect": False},
            "percentageOfNodesToScore": 100,
            "profiles": [{"schedulerName": name}],
            "extenders": [extender],
        }
        path = Path(folder) / "config.yaml"
        path.write_text(yaml.safe_dump(configuration))
        with _running(programs / "kube-scheduler", [f"--config={path}", "--secure-port=0"]):
            yield


def processor_seconds() -> float:
    """Of all processes that were started here and run now."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found = path.read_text().rpartition(")")[2].split()
            ticks += int(found[11]) + int(found[12]) if int(found[1]) == os.getpid() else 0
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _running(program: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Until the end of the block; a process that ended before says so with its last words."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([program, *arguments], stdout=log, stderr=log)
        try:
            time.sleep(0.2)
            yield
            if process.poll() is not None:
                log.seek(0)
                raise RuntimeError(f"{program.name} has ended:\n{log.read()[-LOG_BYTES:]}")
        finally:
            process.terminate()
            process.wait()


def _etcd(folder: Path, client: str, peer: str) -> list[str]:
    return [
        f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync", "--log-level=error",
    ]  # fmt: skip


def _kubeconfig(folder: Path, port: int) -> Path:
    cluster = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "benchmark",
        "clusters": [{"name": "benchmark", "cluster": cluster}],
        "users": [{"name": "benchmark", "user": {"token": TOKEN}}],
        "contexts": [{"name": "benchmark", "context": {"cluster": "benchmark", "user": "benchmark"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return path


def _service_account_key(folder: Path) -> Path:
    path = folder / "service-account.key"
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)
    return path


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
