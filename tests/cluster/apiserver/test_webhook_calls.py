import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from gpuyard_cluster.apiserver.admission.consultation import Answer, Call, Failed
from gpuyard_cluster.apiserver.admission.webhook_services import NOWHERE
from gpuyard_cluster.apiserver.auth.certificates import Authority
from gpuyard_cluster.apiserver.webhook_calls import call_webhook
from gpuyard_kube.runtime import AsyncioRuntime
from tests.listening import listening

SERVICE = "hooks.default.svc"
Handler = Callable[[web.Request], Awaitable[web.Response]]


async def echo(request: web.Request) -> web.Response:
    said = [request.path_qs, request.host, request.content_type, (await request.read()).decode()]
    return web.Response(text=" ".join(said))


@asynccontextmanager
async def webhook(folder: Path, handler: Handler) -> AsyncIterator[Call]:
    """A call of a webhook that listens for as long as the block lasts, known as an address and as a Service."""
    authority = Authority(AsyncioRuntime().now())
    pair = authority.for_server(["127.0.0.1", SERVICE])
    (folder / "crt").write_bytes(pair.certificate)
    (folder / "key").write_bytes(pair.key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "crt", folder / "key")
    application = web.Application()
    application.router.add_post("/check", handler)
    async with listening(application, tls) as url:
        yield Call("h", f"{url}/check", 5, b"{}", authority.certificate.decode())


def asked(folder: Path, change: Callable[[Call], Call], handler: Handler = echo) -> Answer:
    """What a call brings, after a change of it."""

    async def run() -> Answer:
        async with webhook(folder, handler) as call:
            return await call_webhook(change(call))

    return asyncio.run(run())


def as_it_is(call: Call) -> Call:
    return call


def test_a_webhook_gets_the_review_and_how_long_it_may_take(tmp_path: Path) -> None:
    answer = asked(tmp_path, as_it_is)
    assert isinstance(answer, bytes)
    path, _, content, body = answer.decode().split()
    assert (path, content, body) == ("/check?timeout=5s", "application/json", "{}")


def test_a_service_is_called_by_its_name_at_its_address(tmp_path: Path) -> None:
    def by_name(call: Call) -> Call:
        port = int(call.url.rpartition(":")[2].partition("/")[0])
        return replace(call, url=f"https://{SERVICE}:443/check", address=("127.0.0.1", port))

    answer = asked(tmp_path, by_name)
    assert isinstance(answer, bytes)
    assert answer.decode().split()[1] == f"{SERVICE}:443"


def failure(answer: Answer) -> str:
    assert isinstance(answer, Failed)
    return answer.why


def test_who_is_not_vouched_for_is_not_asked(tmp_path: Path) -> None:
    assert "certificate verify failed" in failure(asked(tmp_path, lambda call: replace(call, authority="")))


def test_an_unusable_bundle_is_an_answer_too(tmp_path: Path) -> None:
    assert "failed to call webhook" in failure(
        asked(tmp_path, lambda call: replace(call, authority="nonsense"))
    )


def test_a_service_without_addresses_is_said(tmp_path: Path) -> None:
    why = failure(asked(tmp_path, lambda call: replace(call, url=f"https://{SERVICE}/", address=NOWHERE)))
    assert "no endpoints available" in why
    assert SERVICE in why


def test_an_error_page_is_no_answer(tmp_path: Path) -> None:
    async def broken(_: web.Request) -> web.Response:
        return web.Response(status=503, text="try later")

    assert "try later" in failure(asked(tmp_path, as_it_is, broken))


def test_a_webhook_that_never_answers_is_left_in_time(tmp_path: Path) -> None:
    async def silent(_: web.Request) -> web.Response:
        return await asyncio.Future()

    assert "deadline exceeded" in failure(asked(tmp_path, lambda call: replace(call, seconds=0), silent))


def test_nobody_there_is_an_answer_too(tmp_path: Path) -> None:
    assert "failed to call webhook" in failure(
        asked(tmp_path, lambda call: replace(call, url="https://127.0.0.1:1/"))
    )
