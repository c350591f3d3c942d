"""How a command reaches a running cluster and its extender: one way in for all that people ask.

Law: what a kubeconfig names is asked through its API server, but for the extender of `gpuyard up`, which has no pod.
"""

import argparse
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from gpuyard.writes import Reply
from gpuyard_cli.backends import kind as kind_backend
from gpuyard_cli.backends.running import CONTEXTS
from gpuyard_cli.connecting import nearby
from gpuyard_cli.connecting.extender_proxy import Asked, ExtenderProxy, NearbyExtender
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_kube.http import HttpApi


@asynccontextmanager
async def connected(arguments: argparse.Namespace) -> AsyncIterator[tuple[HttpApi, Asked]]:
    """API server and extender of the cluster that the arguments name. InvalidInputError when there is none."""
    async with AsyncExitStack() as ends:
        opening = kind_backend.connected(arguments.kubeconfig, CONTEXTS[arguments.on])
        api = await ends.enter_async_context(opening)
        url = nearby.extender_of(api.url, arguments.kubeconfig)
        if url is None:
            yield api, ExtenderProxy(api)
            return
        extender = HttpApi.at(url)
        ends.push_async_callback(extender.close)
        yield api, NearbyExtender(extender)


def body_of(reply: Reply, what: str) -> dict[str, Any]:
    """The answer; InvalidInputError with what the extender, or whoever stands before it, said instead."""
    if not reply.ok:
        problem = " ".join(str(reply.body.get("error") or reply.reason).split()).rstrip(".")
        raise InvalidInputError(what, "", problem, _remedy(reply.status))
    return reply.body


def _remedy(status: int) -> str:
    match status:
        case 400:
            return "change that field"
        case 401 | 403:
            return "ask as somebody who may, or bind the ClusterRole gpuyard-reader"
        case 404:
            return "see kubectl get pods,podgroups -A, and give its namespace with -n"
    return "see the pods of gpuyard-extender in gpuyard-system, or ask again"
