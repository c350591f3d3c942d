"""A real cluster is asked through its API server: what it passes on, and what is said when it cannot."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web

from gpuyard import vocabulary
from gpuyard.auditing import accounts
from gpuyard.auditing.accounts import NodeAccounts
from gpuyard_cli.backends.live_accounts import LiveAccounts
from gpuyard_cli.scenarios.auditing import Audited, Silent, look
from gpuyard_kube.http import HttpApi
from tests.gpuyard.audited import NODE, Books, Tenant, holding
from tests.listening import listening

PARTS = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"
PLUGIN = f"{PARTS}/plugin-1:8082/proxy{accounts.PLUGIN_PATH}"
EXTENDER = f"{PARTS}/extender-1:8081/proxy{accounts.LEDGER_PATH}"
BOOKS = Books.kept(Tenant("one", holding(0)))


def pages(books: Books = BOOKS) -> dict[str, Any]:
    """path -> body (or status) of an API server."""
    assert books.ledger is not None
    assert books.told is not None
    return {
        "/api/v1/nodes": {"items": list(books.objects.nodes)},
        "/api/v1/pods": {"items": list(books.objects.pods)},
        f"/apis/{vocabulary.POD_GROUP_API}/podgroups": {"items": []},
        f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/reservations": {"items": []},
        f"{PARTS}?gpuyard-extender": {"items": [part("extender-1")]},
        f"{PARTS}?gpuyard-device-plugin": {"items": [part("plugin-1")]},
        EXTENDER: accounts.ledger_to_json(books.ledger),
        PLUGIN: accounts.node_to_json(books.told),
    }


def part(name: str) -> Any:
    return {"metadata": {"name": name}, "spec": {"nodeName": NODE, "containers": [{}]}}


async def nodes(asked: LiveAccounts) -> Mapping[str, NodeAccounts | Silent]:
    return await asked.nodes([NODE])


class Server:
    """An API server that has these pages and no others; of a list of parts it asks for the label."""

    def __init__(self, pages: Mapping[str, Any]) -> None:
        self.pages = pages

    async def answer(self, request: web.Request) -> web.Response:
        label = request.query.get("labelSelector", "").rpartition("=")[2]
        found = self.pages.get(f"{request.path}?{label}" if label else request.path, 404)
        if isinstance(found, int):
            return web.json_response({"message": f"status {found}"}, status=found)
        return web.json_response(found)

    def asked(self, question: Any) -> Any:
        async def scene() -> Any:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", self.answer)
            async with listening(app) as url:
                api = HttpApi.at(url)
                try:
                    return await question(LiveAccounts(api))
                finally:
                    await api.close()

        return asyncio.run(scene())


def test_everyone_is_asked_through_the_proxy_for_pods() -> None:
    assert Server(pages()).asked(look) == Audited()


def test_what_they_say_arrives() -> None:
    assert Server(pages()).asked(LiveAccounts.ledger) == BOOKS.ledger
    assert Server(pages()).asked(nodes) == {NODE: BOOKS.told}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({EXTENDER: 503}, r"status 503; see the pods of gpuyard-extender in gpuyard-system"),
        ({EXTENDER: {"v": 2}}, "not an account of version 1; bring command and cluster to one version"),
        ({f"{PARTS}?gpuyard-extender": {"items": []}}, "no extender runs in the cluster"),
    ],
)
def test_an_extender_that_cannot_be_asked_is_said_with_the_remedy(changed: dict[str, Any], said: str) -> None:
    answer = Server({**pages(), **changed}).asked(LiveAccounts.ledger)
    assert isinstance(answer, Silent)
    assert re.search(said, answer.why)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({PLUGIN: 502}, "status 502; see the pods of gpuyard-device-plugin in gpuyard-system"),
        ({PLUGIN: {"v": 1, "plugin": 7}}, "not an account.*; bring command and cluster to one version"),
        ({f"{PARTS}?gpuyard-device-plugin": {"items": []}}, "none runs there; see the DaemonSet"),
        ({f"{PARTS}?gpuyard-device-plugin": 403}, "status 403; audit as somebody who may list pods"),
    ],
)
def test_a_plugin_that_cannot_be_asked_is_said_with_the_remedy(changed: dict[str, Any], said: str) -> None:
    answer = Server({**pages(), **changed}).asked(nodes)[NODE]
    assert isinstance(answer, Silent)
    assert re.search(said, answer.why)
