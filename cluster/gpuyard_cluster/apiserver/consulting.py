"""Requests whose answer may need webhooks: the shell around `server.consider`.

Stands for the waiting that kube-apiserver's handlers do. Law: a request waits here and nowhere else, without holding
anything; what happens meanwhile is seen by its next try.
"""

import asyncio

from gpuyard_cluster.apiserver.admission.consultation import Consultation, Webhooks
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request, Response
from gpuyard_cluster.apiserver.server import APIServer, refusal

_PATIENCE = 60
"""Seconds for all tries of one request, as kube-apiserver's --request-timeout. A webhook that changes the object that
it is asked about would be asked for ever."""


async def answer(server: APIServer, request: Request) -> Response:
    """The server's answer to a request, after the webhooks that it has to do with were called."""
    call = server.webhooks
    consultation = server.consultation(request) if call is not None else None
    if call is None or consultation is None:
        return server.handle(request)
    try:
        async with asyncio.timeout(_PATIENCE):
            return await _tried(server, request, consultation, call)
    except TimeoutError:
        message = "request did not complete within the allotted timeout: its webhooks took too long"
        return refusal(ApiError(504, "Timeout", f"Timeout: {message}"))


async def _tried(server: APIServer, request: Request, consultation: Consultation, call: Webhooks) -> Response:
    while True:
        outcome = server.consider(request, consultation)
        if isinstance(outcome, Response):
            return outcome
        answers = await asyncio.gather(*(call(one) for one in outcome))
        consultation.tell(dict(zip(outcome, answers, strict=True)))
