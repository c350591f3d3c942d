"""A kubectl session on the embedded cluster, answered as a real cluster answered it."""

import asyncio
from pathlib import Path

import pytest
import yaml

from gpuyard import yard
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from tests.e2e.kubectl import playing
from tests.e2e.kubectl.agreement import differences
from tests.e2e.kubectl.session import NOT_SERVED, SESSION

NODES = yard.parse({"nodes": [{"name": "node-1"}, {"name": "node-2"}]})


@pytest.fixture(scope="module")
def kubectl() -> str:
    found, why = playing.find()
    if not found:
        pytest.skip(why)
    return found


def written(url: str, folder: Path) -> str:
    """A kubeconfig for an API server that asks nobody who they are."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "embedded", "cluster": {"server": url}}],
        "users": [{"name": "embedded", "user": {}}],
        "contexts": [{"name": "embedded", "context": {"cluster": "embedded", "user": "embedded"}}],
        "current-context": "embedded",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return str(path)


@pytest.fixture(scope="module")
def answers(kubectl: str, tmp_path_factory: pytest.TempPathFactory) -> list[playing.Answer]:
    """All commands on one embedded cluster, one after the other."""
    folder = tmp_path_factory.mktemp("kubectl")

    async def whole() -> list[playing.Answer]:
        async with EmbeddedYard(NODES) as cluster:
            kubeconfig = written(cluster.url, folder)
            commands = [*SESSION, *NOT_SERVED]
            return await asyncio.to_thread(
                lambda: list(playing.play(kubectl, kubeconfig, commands, str(folder)))
            )

    return asyncio.run(whole())


def test_the_embedded_cluster_answers_kubectl_as_a_real_one(answers: list[playing.Answer]) -> None:
    found = differences(answers[: len(SESSION)])
    assert not found, "\n\n".join(found)


def test_what_is_not_served_is_refused_in_so_many_words(answers: list[playing.Answer]) -> None:
    *_, execute, attach, forward = answers
    for answer, part in ((execute, "pods/exec"), (attach, "pods/attach"), (forward, "pods/portforward")):
        assert answer.code
        assert part in answer.text
