"""Runs the session with a real kubectl, against any cluster."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.kubectl.masking import masked
from tests.e2e.kubectl.session import NAMESPACE, Command

OBJECTS = Path(__file__).parent / "objects"
OLDEST = (1, 34)
_CACHED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpuyard/kind/bin/kubectl"
_EDITOR = "sed -i s/fast/slow/"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a command, masked."""

    command: Command
    code: int
    text: str

    def __str__(self) -> str:
        ended = f" -> {self.code}" if self.code else ""
        return f"$ kubectl {self.command.line}{ended}\n{self.text}".rstrip()


def find() -> tuple[str, str]:
    """A kubectl that is new enough, or else why there is none."""
    why = "there is no kubectl on PATH, nor in the cache of kind/programs.sh"
    for place in (str(_CACHED), shutil.which("kubectl") or ""):
        if not place or not Path(place).exists():
            continue
        told = subprocess.run([place, "version", "--client", "-o", "yaml"], capture_output=True, text=True)
        found = [
            line.split('"')[1] for line in told.stdout.splitlines() if "major" in line or "minor" in line
        ]
        if tuple(map(int, found)) >= OLDEST:
            return place, ""
        why = f"{place} is older than 1.34"
    return "", why


def play(kubectl: str, kubeconfig: str, commands: Sequence[Command], home: str) -> Iterator[Answer]:
    """The answers, one by one. `home` is a folder in which kubectl may keep its caches."""
    kept = {"PATH": os.environ["PATH"], "KUBECONFIG": kubeconfig, "HOME": home, "KUBE_EDITOR": _EDITOR}
    for command in commands:
        argv = [kubectl, "--namespace", NAMESPACE, *shlex.split(command.line)]
        done = subprocess.run(argv, cwd=OBJECTS, env=kept, capture_output=True, text=True, timeout=180)
        yield Answer(command, done.returncode, masked(_chosen(command, done.stdout + done.stderr)))


def _chosen(command: Command, text: str) -> str:
    """The lines that count; those that were picked out are sorted, since programs print them in any order."""
    if command.last:
        return text.splitlines()[-1]
    return (
        "\n".join(sorted(line for line in text.splitlines() if command.only in line))
        if command.only
        else text
    )
