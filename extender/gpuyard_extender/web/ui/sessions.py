"""How a browser shows a token: a form takes it, a cookie carries it.

Stands for the log-in of a dashboard. Laws: the token is in no address and no log; no script can read the cookie, no
other site can have it sent or set, and it goes to /ui alone; whether it is worth anything is asked with every
request.
"""

import base64
import hashlib
import html
import re
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Final
from urllib.parse import parse_qs

from gpuyard_extender.transport.asgi import Header, Message, Receive, Send

PATH: Final = "/ui/session"
Check = Callable[[str], Awaitable[tuple[int, str] | None]]
"""What is wrong with a token: HTTP status, and why."""
_COOKIE: Final = "gpuyard-token"
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")
_MOST_BYTES: Final = 16 * 1024
_POLICY: Final = b"default-src 'none'; style-src 'sha256-%s'; form-action 'self'; frame-ancestors 'none'"


def token(scope: Message) -> str:
    """The token in the cookie; empty where there is none."""
    for name, value in scope["headers"]:
        if name == b"cookie":
            for crumb in value.decode("latin-1").split(";"):
                key, _, found = crumb.strip().partition("=")
                if key == _COOKIE and _TOKEN.fullmatch(found):
                    return str(found)
    return ""


async def sign_in(scope: Message, receive: Receive, send: Send, check: Check) -> None:
    """Answer the form: to the page, with the cookie, where `check` has nothing against the token.

    Without a token the cookie goes.
    """
    if scope["method"] != "POST":
        await ask(send, 401, "")
        return
    # Not `Origin`: with our referrer policy browsers say null of our own form, too.
    if dict(scope["headers"]).get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none"):
        await ask(send, 403, "Another site sent this; sign in here.")
        return
    given = await _given(receive)
    if given and not _TOKEN.fullmatch(given):
        await ask(send, 401, "This is no token: it has signs that no token has.")
        return
    refusal = await check(given) if given else None
    if refusal is not None:
        await ask(send, *refusal)
        return
    life = b"" if given else b"; Max-Age=0"
    secure = b"; Secure" if scope.get("scheme") == "https" else b""
    cookie = b"%s=%s; Path=/ui; HttpOnly; SameSite=Strict%s%s"
    crumb = cookie % (_COOKIE.encode(), given.encode(), secure, life)
    headers = [(b"location", b"./"), (b"set-cookie", crumb), (b"cache-control", b"no-store")]
    await _answer(send, 303, headers, b"")


async def ask(send: Send, status: int, why: str) -> None:
    """Answer with the form, and why it is there."""
    page, digest = _form()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", _POLICY % digest),
        (b"referrer-policy", b"no-referrer"),
        (b"cache-control", b"no-store"),
        (b"www-authenticate", b"Bearer"),
    ]
    await _answer(send, status, headers, page.replace("{{why}}", html.escape(why)).encode())


def _form() -> tuple[str, bytes]:
    """The page, and the digest of its style sheet, by which a browser knows that it is ours."""
    page = resources.files("gpuyard_extender.web.ui").joinpath("sign-in.html").read_text("utf-8")
    style = page.partition("<style>")[2].partition("</style>")[0]
    return page, base64.b64encode(hashlib.sha256(style.encode()).digest())


async def _given(receive: Receive) -> str:
    """The field `token`; empty for a body that is no form or too long."""
    body, more = b"", True
    while more and len(body) <= _MOST_BYTES:
        message = await receive()
        body += message.get("body", b"")
        more = message["type"] == "http.request" and message.get("more_body", False)
    if more or len(body) > _MOST_BYTES:
        return "?"
    return next(iter(parse_qs(body.decode("latin-1")).get("token", ())), "").strip()


async def _answer(send: Send, status: int, headers: list[Header], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
