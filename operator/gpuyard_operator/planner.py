"""The extender's planning, over HTTP: contract 4's `POST /v1/plans`.

Stands for the call that coscheduling makes within kube-scheduler. Every failure is an answer: `Unready`, with why.
"""

import aiohttp
import orjson

from gpuyard.plans import PlanAnswer, PlanRequest, Unready, answer_from_json, request_to_json

PATIENCE = aiohttp.ClientTimeout(total=5)
"""As long as kube-scheduler waits for the extender."""


class HttpPlanner:
    """`gpuyard_operator.service.Planner` for the extender at `url`, on the running event loop."""

    def __init__(self, url: str) -> None:
        self._url = f"{url.rstrip('/')}/v1/plans"
        self._session = aiohttp.ClientSession(timeout=PATIENCE)

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        headers = {"Content-Type": "application/json"}
        body = orjson.dumps(request_to_json(request))
        try:
            async with self._session.post(self._url, data=body, headers=headers) as response:
                status, content = response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            return Unready(f"the extender at {self._url} cannot be reached: {error or type(error).__name__}")
        return _answer(content) if status == 200 else Unready(f"the extender answered HTTP {status}")

    async def close(self) -> None:
        """Give up the connections."""
        await self._session.close()


def _answer(content: bytes) -> PlanAnswer:
    try:
        return answer_from_json(orjson.loads(content))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        return Unready(f"the extender's answer cannot be read: {error!r}")
