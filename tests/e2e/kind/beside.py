"""Operators of others, unmodified, beside a real cluster, and jobs of theirs that its nodes can run."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gpuyard.writes import JSON
from tests.e2e.operators.programs import Operator, Running, started, uninstall


@contextmanager
def installed(operator: Operator, folder: Path, kubeconfig: Path, log: Path) -> Iterator[Running]:
    """Within the block it runs; after it nothing of it is left."""
    with started(operator, folder, kubeconfig, log) as running:
        yield running
    uninstall(kubeconfig, running.source / operator.manifests)


def idle(templates: Iterable[JSON]) -> None:
    """Let pods do nothing in an image that the nodes have: what their containers do is of no matter here."""
    for template in templates:
        spec = template["spec"]
        spec["terminationGracePeriodSeconds"] = 1
        spec["containers"][0] |= {"image": "busybox:1.36", "command": ["sleep", "3600"]}
        for key in ("args", "lifecycle", "volumeMounts"):
            spec["containers"][0].pop(key, None)
        spec.pop("volumes", None)
