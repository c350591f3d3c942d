"""The embedded API server says what kube-apiserver 1.36.3 said when it was asked the same."""

import asyncio
import json

import pytest

from gpuyard_cluster.apiserver.http import serve
from gpuyard_kube.servers import Server
from tests.e2e.conformance.conversation import CHECKS, JSON
from tests.e2e.conformance.embedded import Cluster
from tests.e2e.conformance.recording import HERE, differing, recorded, records_of

Records = dict[str, list[JSON]]


async def _answers() -> Records:
    cluster = Cluster()
    listener = await serve(cluster.server)
    try:
        return await records_of(Server(listener.url), at_once=16)
    finally:
        await listener.close()
        await cluster.runtime.close()


@pytest.fixture(scope="module")
def answers() -> Records:
    return asyncio.run(_answers())


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_the_embedded_server_answers_as_the_real_one(name: str, answers: Records) -> None:
    found, real = answers[name], recorded(name)
    for at in differing(found, real):
        raise AssertionError(f"answer {at}:\n{json.dumps(found[at])}\nnot\n{json.dumps(real[at])}")


def test_every_record_belongs_to_a_check() -> None:
    assert {path.stem for path in (HERE / "recorded").iterdir()} == set(CHECKS)
