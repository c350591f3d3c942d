"""Kueue above us, unmodified: first the quota, then the places."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gpuyard import vocabulary
from gpuyard.writes import JSON
from tests.e2e.operators import kueue
from tests.e2e.operators.gangs import Place, play, waits_as_a_whole
from tests.e2e.operators.programs import Operator, Running, Webhooks, started


def configuration(certificates: Path) -> JSON:
    """Kueue's, with what a program on this machine needs to be told otherwise."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": 9443, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "integrations": {"frameworks": ["pod"]},
    }


@pytest.fixture(scope="module")
def running(operators: Path, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("kueue")
    settings, certificates = folder / "settings.yaml", folder / "certificates"
    settings.write_text(yaml.safe_dump(configuration(certificates)))
    webhooks = Webhooks("kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert", certificates)
    flags = (f"--config={settings}", "--feature-gates=VisibilityOnDemand=false")
    operator = Operator("kueue", "config/default", flags, webhooks)
    with started(operator, operators, kubeconfig, folder / "log") as running:
        yield running


def test_a_gang_waits_for_its_quota_though_there_is_room_and_then_runs_on_planned_devices(
    running: Running,
) -> None:
    play(running, "quota", kueue.one_after_the_other)


def test_a_gang_that_has_its_quota_but_no_room_is_held_by_our_gate_alone_and_says_why(
    running: Running,
) -> None:
    async def story(place: Place) -> None:
        await kueue.open_queue(place)
        await kueue.submit(place, "large", 2)
        await kueue.submit(place, "small", 1)
        await kueue.gather(place, "ring", pods=2, gpus=1)
        message = await waits_as_a_whole(place, "ring", members=2)
        assert "InsufficientGPUs (needs 1 GPU, " in message
        assert await kueue.gates(place, "ring") == [[vocabulary.GANG_GATE]] * 2

    play(running, "room", story)
