"""The extender over HTTP: the verbs, and beside them what people and components ask.

Stands for the mux of a Kubernetes component.
"""

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from gpuyard.policies.installed import PolicyError
from gpuyard_extender.service import Extender
from gpuyard_extender.transport.asgi import App
from gpuyard_extender.web.metrics import Metrics
from gpuyard_extender.web.queries import OPENAPI, add_queries
from gpuyard_extender.web.ui.routes import Page
from gpuyard_extender.web.verbs import Verbs
from gpuyard_kube.metrics import CONTENT_TYPE, PATH


def create_app(extender: Extender, metrics: Metrics | None = None, page: Page | None = None) -> App:
    """The ASGI application of one extender. `metrics` are its own, where they have to say more than it knows.

    `page` is the live yard, where there is to be one.
    """
    metrics = metrics or Metrics(extender)
    return Verbs(beside_the_verbs(extender, metrics, page), extender, metrics)


def beside_the_verbs(extender: Extender, metrics: Metrics, page: Page | None = None) -> FastAPI:
    """All but what kube-scheduler asks."""
    # A schema of what people ask; no pages for it, which would load scripts from elsewhere.
    app = FastAPI(title="GPUYard extender", openapi_url=OPENAPI, docs_url=None, redoc_url=None)
    app.add_exception_handler(PolicyError, _policy_failed)
    add_queries(app, extender)
    if page is not None:
        app.include_router(page.router())
    _add_health(app, extender, metrics)
    return app


async def _policy_failed(_: Request, fault: Exception) -> Response:
    """Somebody else's policy, who asks and is to read what mends it."""
    return JSONResponse({"error": str(fault)}, 500)


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
