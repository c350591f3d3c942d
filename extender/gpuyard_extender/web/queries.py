"""What is asked beside kube-scheduler's protocol: plans, explanations, simulations, the ledger.

Stands for the debugging and what-if endpoints that schedulers keep to themselves. Laws: everything is below /v1,
behind the guard; bad input is answered 4xx with a text that names the field; only a plan changes anything.
"""

import asyncio
from typing import Any, Final

import orjson
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from gpuyard.auditing import accounts
from gpuyard.groups import plans
from gpuyard.writes import JSON
from gpuyard_extender.advice.simulation_models import Asked, Simulated
from gpuyard_extender.deciding.searching import Found
from gpuyard_extender.service import NOT_SYNCED, Extender

OPENAPI: Final = "/v1/openapi.json"
_LONGEST: Final = 1000
"""Of a text that says what is wrong."""
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "which field cannot be used, and why"},
    503: {"description": "the extender has not seen the whole cluster yet"},
}


def add_queries(app: FastAPI, extender: Extender) -> None:
    """Answer them."""
    app.include_router(_of_components(extender), prefix="/v1", include_in_schema=False)
    app.include_router(_of_people(extender), prefix="/v1")
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unparsed)


def _of_components(extender: Extender) -> APIRouter:
    router, one_planned = APIRouter(), asyncio.Lock()

    @router.post("/plans")
    async def plan(request: Request) -> Response:
        try:
            asked = plans.request_from_json(await decoded(request))
        except ValueError as error:
            return encoded({"error": f"not a plan request: {error}"}, 400)
        # The verbs are answered meanwhile: the search reads the ledger once, and then works in another thread.
        async with one_planned:
            # Who asks for many gangs waits 5 s for each: else all places would be found for nobody.
            before: Found | None = None
            while not await request.is_disconnected():
                found = await run_in_threadpool(extender.search(asked, before))
                answer = extender.planned(asked, before := found) if isinstance(found, Found) else found
                if answer is not None:
                    return encoded(plans.answer_to_json(answer))
        return encoded({"error": "nobody waits for the answer any more"}, 503)

    @router.get(accounts.LEDGER_PATH.removeprefix("/v1"))
    async def ledger() -> Response:
        if not extender.ready:
            return encoded({"error": NOT_SYNCED}, 503)
        return encoded(accounts.ledger_to_json(extender.accounts()))

    return router


def _of_people(extender: Extender) -> APIRouter:
    # The verbs are answered meanwhile: what takes long reads the ledger once, and then works in another thread.
    router, one_explained, one_simulated = APIRouter(), asyncio.Lock(), asyncio.Lock()

    @router.get("/pods/{namespace}/{name}/explain", summary="Why a pod waits")
    async def explain(namespace: str, name: str) -> Response:
        async with one_explained:
            found = extender.explanation(namespace, name)
            return _explained(await run_in_threadpool(found) if found else None, f"pod {namespace}/{name}")

    @router.get("/podgroups/{namespace}/{name}/explain", summary="Why a pod group waits")
    async def explain_group(namespace: str, name: str) -> Response:
        async with one_explained:
            found = extender.group_explanation(namespace, name)
            return _explained(
                await run_in_threadpool(found) if found else None, f"pod group {namespace}/{name}"
            )

    @router.post("/simulations", response_model=Simulated, responses=_ERRORS, summary="Would it fit?")
    async def simulate(asked: Asked) -> Any:
        if not extender.ready:
            return encoded({"error": NOT_SYNCED}, 503)
        async with one_simulated:
            try:
                return await run_in_threadpool(extender.simulation(asked))
            except ValueError as error:
                return encoded({"error": str(error)}, 400)

    return router


def _explained(found: JSON | None, what: str) -> Response:
    return encoded(found) if found is not None else encoded({"error": f"no {what} is known"}, 404)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    text = "; ".join(f"{_field(fault['loc'])}: {fault['msg']}" for fault in error.errors())
    return encoded({"error": text[:_LONGEST]}, 400)


def _field(location: tuple[int | str, ...]) -> str:
    """As a user writes it. What is no JSON at all is located by the number of a byte."""
    names = location[1:]
    return ".".join(map(str, names)) if names and isinstance(names[0], str) else "body"


async def _unparsed(_request: Request, error: Exception) -> Response:
    """What FastAPI refuses by itself: paths that there are not, and bodies nested too deeply."""
    assert isinstance(error, HTTPException)
    return encoded({"error": error.detail}, error.status_code)


async def decoded(request: Request) -> Any:
    """The body; None, which no reader takes for a request, when it is not JSON, or its sender left in the middle."""
    try:
        return orjson.loads(await request.body())
    except (orjson.JSONDecodeError, ClientDisconnect):
        return None


def encoded(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
