"""The extender over HTTP.

Stands for the web server of a scheduler extender. Bodies are decoded and encoded by hand: FastAPI's own encoder costs
more than the decision. A verb always answers 200, because kube-scheduler throws the body of any other answer away.
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from gpuyard import accounts, plans
from gpuyard_extender import wire
from gpuyard_extender.metrics import Metrics
from gpuyard_extender.service import NOT_SYNCED, Extender
from gpuyard_kube.metrics import CONTENT_TYPE, PATH

log = logging.getLogger("gpuyard.extender")

BROKEN = "the extender failed; its log says why"


def create_app(extender: Extender, metrics: Metrics | None = None) -> FastAPI:
    """The ASGI application of one extender. `metrics` are its own, where they have to say more than it knows."""
    # No schema pages: the protocol is kube-scheduler's, and the pages would load scripts from elsewhere.
    app = FastAPI(title="GPUYard extender", openapi_url=None)
    metrics = metrics or Metrics(extender)
    _add_verbs(app, extender, metrics)
    _add_queries(app, extender)
    _add_health(app, extender, metrics)
    return app


def _add_verbs(app: FastAPI, extender: Extender, metrics: Metrics) -> None:
    """Each verb, and what kube-scheduler is told when we fail."""
    _add_verb(app, metrics, "filter", extender.filter, wire.filter_error(BROKEN))
    _add_verb(app, metrics, "prioritize", extender.prioritize, [])
    _add_verb(app, metrics, "preempt", extender.preempt, wire.preempt_result({}))
    _add_verb(app, metrics, "bind", extender.bind, wire.bind_result(BROKEN))


def _add_verb(app: FastAPI, metrics: Metrics, name: str, verb: Callable[[Any], Any], broken: Any) -> None:
    @app.post(f"/{name}")
    async def answer(request: Request) -> Response:
        try:
            args = await _decoded(request)
            with metrics.timed(name):
                found = verb(args)
                return _json(await found if isinstance(found, Coroutine) else found)
        except Exception:
            log.exception("%s failed", name)
            return _json(broken)


def _add_queries(app: FastAPI, extender: Extender) -> None:
    @app.post("/v1/plans")
    async def plan(request: Request) -> Response:
        try:
            asked = plans.request_from_json(await _decoded(request))
        except ValueError as error:
            return _json({"error": f"not a plan request: {error}"}, 400)
        return _json(plans.answer_to_json(extender.plan(asked)))

    @app.get("/v1/pods/{namespace}/{name}/explain")
    async def explain(namespace: str, name: str) -> Response:
        found = extender.explain(namespace, name)
        if found is None:
            return _json({"error": f"no pod {namespace}/{name} is known"}, 404)
        return _json(found)

    @app.get(accounts.LEDGER_PATH)
    async def ledger() -> Response:
        if not extender.ready:
            return _json({"error": NOT_SYNCED}, 503)
        return _json(accounts.ledger_to_json(extender.accounts()))


def _add_health(app: FastAPI, extender: Extender, metrics: Metrics) -> None:
    @app.get("/livez")
    async def livez() -> Response:
        return Response("ok")

    @app.get("/readyz")
    async def readyz() -> Response:
        return Response("ok") if extender.ready else Response("not synced yet", 503)

    @app.get(PATH)
    async def measured() -> Response:
        return Response(metrics.exposed(), media_type=CONTENT_TYPE)


async def _decoded(request: Request) -> Any:
    """The body; None, which no reader takes for a request, when it is not JSON, or its sender left in the middle."""
    try:
        return orjson.loads(await request.body())
    except (orjson.JSONDecodeError, ClientDisconnect):
        return None


def _json(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
