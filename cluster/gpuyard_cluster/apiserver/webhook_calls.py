"""Calling admission webhooks over HTTPS.

Stands for the webhook clients of kube-apiserver. Law: whatever goes wrong is an answer (`Failed`), and
never an exception.
"""

import asyncio
import ssl

import aiohttp
from yarl import URL

from gpuyard_cluster.apiserver.admission.consultation import Answer, Call, Failed
from gpuyard_cluster.apiserver.admission.webhook_services import NOWHERE

_MOST_BYTES = 3 * 1024 * 1024
"""What is read of an answer: a patch cannot make an object larger than a request body."""


async def call_webhook(call: Call) -> Answer:
    """The body of the webhook's answer, or why there is none."""
    url = f"{call.url}?timeout={call.seconds}s"
    if call.address == NOWHERE:
        return Failed(f"failed to call webhook: no endpoints available for service {URL(call.url).host!r}")
    try:
        async with asyncio.timeout(call.seconds):
            return await _posted(call, url)
    except TimeoutError:
        why = "context deadline exceeded"
    except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as error:
        why = str(error)
    return Failed(f'failed to call webhook: Post "{url}": {why}')


async def _posted(call: Call, url: str) -> Answer:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Host": URL(url).authority}
    # A session of its own: no connection is kept to a webhook that may have restarted.
    async with aiohttp.ClientSession(headers=headers) as session:
        where, trust = _reached(url, call.address), _trust(call.authority)
        post = session.post(
            where, data=call.review, ssl=trust, server_hostname=URL(url).host, allow_redirects=False
        )
        async with post as response:
            body = await response.content.read(_MOST_BYTES)
            while not response.content.at_eof() and len(body) < _MOST_BYTES:
                body += await response.content.read(_MOST_BYTES - len(body))
    if response.status == 200:
        return body
    said = body[:200].decode(errors="replace")
    return Failed(f'failed to call webhook: an error on the server ("{said}") (status {response.status})')


def _reached(url: str, address: tuple[str, int] | None) -> URL:
    """The URL with the address to connect to in the place of a name that nobody resolves."""
    return URL(url) if address is None else URL(url).with_host(address[0]).with_port(address[1])


def _trust(authority: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority or None)
