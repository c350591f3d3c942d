"""An extender over HTTP.

Stands for the transport of kube-scheduler's HTTPExtender: POST <url>/<verb>, 5 seconds in all, any status but 200 is
an error, and the texts of errors are those that users of kube-scheduler know.
"""

from typing import Any

import aiohttp
import orjson

from gpuyard.narration import words_of
from gpuyard.writes import JSON
from gpuyard_cluster.scheduler.extenders import ExtenderConfig, ExtenderError

TIMEOUT_SECONDS = 5.0
# Below the 5 s after which uvicorn closes an idle connection: a POST on one that just closed cannot be repeated.
_IDLE_SECONDS = 3.0


class HttpExtenderClient:
    """`ExtenderClient` on the running event loop. `url` is the prefix of all verbs."""

    def __init__(self, url: str, config: ExtenderConfig) -> None:
        self._url, self._config = url.rstrip("/"), config
        # No limit: binds that an extender holds must not keep the next filter waiting.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS)
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout)

    async def filter(self, args: JSON) -> JSON:
        return await self._object("filter", self._config.filter_verb, args)

    async def prioritize(self, args: JSON) -> list[Any]:
        reply = await self._post("prioritize", self._config.prioritize_verb, args)
        if not isinstance(reply, list):
            raise ExtenderError(f"{self._url}/{self._config.prioritize_verb}: the answer is no JSON list")
        return reply

    async def preempt(self, args: JSON) -> JSON:
        return await self._object("preempt", self._config.preempt_verb, args)

    async def bind(self, args: JSON) -> JSON:
        return await self._object("bind", self._config.bind_verb, args)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _object(self, action: str, verb: str, args: JSON) -> JSON:
        reply = await self._post(action, verb, args)
        if not isinstance(reply, dict):
            raise ExtenderError(f"{self._url}/{verb}: the answer is no JSON object")
        return reply

    async def _post(self, action: str, verb: str, args: JSON) -> Any:
        url = f"{self._url}/{verb}"
        headers = {"Content-Type": "application/json"}
        try:
            async with self._session.post(url, data=orjson.dumps(args), headers=headers) as response:
                if response.status != 200:
                    status = response.status
                    raise ExtenderError(f"failed {action} with extender at URL {url}, code {status}")
                return _decoded(url, await response.read())
        except TimeoutError as error:
            problem = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            raise ExtenderError(f'Post "{url}": {problem}') from error
        except aiohttp.ClientError as error:
            raise ExtenderError(f'Post "{url}": {words_of(error)}') from error


def _decoded(url: str, body: bytes) -> Any:
    if not body:
        raise ExtenderError("EOF")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ExtenderError(f"{url}: the answer is not JSON: {error}") from error
