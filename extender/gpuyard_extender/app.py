"""The extender over HTTP.

Stands for the web server of a scheduler extender. Bodies are decoded and encoded by hand: FastAPI's own encoder costs
more than the decision. A verb always answers 200, because kube-scheduler throws the body of any other answer away.
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import FastAPI, Request, Response

from gpuyard_extender import wire
from gpuyard_extender.metrics import Metrics
from gpuyard_extender.queries import OPENAPI, add_queries, decoded, encoded
from gpuyard_extender.service import Extender
from gpuyard_extender.ui.routes import Page
from gpuyard_kube.metrics import CONTENT_TYPE, PATH

log = logging.getLogger("gpuyard.extender")

BROKEN = "the extender failed; its log says why"


def create_app(extender: Extender, metrics: Metrics | None = None, page: Page | None = None) -> FastAPI:
    """The ASGI application of one extender. `metrics` are its own, where they have to say more than it knows.

    `page` is the live yard, where there is to be one.
    """
    # A schema of what people ask; no pages for it, which would load scripts from elsewhere.
    app = FastAPI(title="GPUYard extender", openapi_url=OPENAPI, docs_url=None, redoc_url=None)
    metrics = metrics or Metrics(extender)
    _add_verbs(app, extender, metrics)
    add_queries(app, extender)
    if page is not None:
        app.include_router(page.router())
    _add_health(app, extender, metrics)
    return app


def _add_verbs(app: FastAPI, extender: Extender, metrics: Metrics) -> None:
    """Each verb, and what kube-scheduler is told when we fail."""
    _add_verb(app, metrics, "filter", extender.filter, wire.filter_error(BROKEN))
    _add_verb(app, metrics, "prioritize", extender.prioritize, [])
    _add_verb(app, metrics, "preempt", extender.preempt, wire.preempt_result({}))
    _add_verb(app, metrics, "bind", extender.bind, wire.bind_result(BROKEN))


def _add_verb(app: FastAPI, metrics: Metrics, name: str, verb: Callable[[Any], Any], broken: Any) -> None:
    @app.post(f"/{name}", include_in_schema=False)
    async def answer(request: Request) -> Response:
        try:
            args = await decoded(request)
            with metrics.timed(name):
                found = verb(args)
                return encoded(await found if isinstance(found, Coroutine) else found)
        except Exception:
            log.exception("%s failed", name)
            return encoded(broken)


def _add_health(app: FastAPI, extender: Extender, metrics: Metrics) -> None:
    @app.get("/livez", include_in_schema=False)
    async def livez() -> Response:
        return Response("ok")

    @app.get("/readyz", include_in_schema=False)
    async def readyz() -> Response:
        return Response("ok") if extender.ready else Response("not synced yet", 503)

    @app.get(PATH, include_in_schema=False)
    async def measured() -> Response:
        return Response(metrics.exposed(), media_type=CONTENT_TYPE)
