"""The extender's planning, over HTTP: `POST /v1/plans`.

Stands for the call that coscheduling makes within kube-scheduler. Every failure is an answer: `Unready`, with why.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import orjson

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unready, answer_from_json, request_to_json
from gpuyard.narration import words_of
from gpuyard_kube.connections import Connector

PATIENCE = aiohttp.ClientTimeout(total=5)
"""As long as kube-scheduler waits for the extender."""

SERVER_NAME: Final = f"{vocabulary.EXTENDER}.{vocabulary.NAMESPACE}.svc"
"""What the extender's certificate must say, whatever its address: it may send us on to one of another extender."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How both sides know each other."""

    token_file: Path | None = None
    """Read for each question: a kubelet renews the token of a pod every hour."""
    ca_file: Path | None = None
    """The authority of the extender's certificate (PEM), where it speaks TLS."""

    def headers(self) -> dict[str, str]:
        """OSError when the token cannot be read. Not `Authorization`: aiohttp takes that off where it is sent on."""
        if self.token_file is None:
            return {}
        return {vocabulary.TOKEN_HEADER: self.token_file.read_text().strip()}

    def tls(self) -> dict[str, Any]:
        """What aiohttp needs to know about TLS. OSError when the file cannot be read."""
        if self.ca_file is None:
            return {}
        return {"ssl": ssl.create_default_context(cafile=self.ca_file), "server_hostname": SERVER_NAME}


class HttpPlanner:
    """`gpuyard_operator.reconciler.Planner` for the extender at `url`, on the running event loop.

    OSError when the file of the authority cannot be read.
    """

    def __init__(self, url: str, trust: Trust = Trust()) -> None:
        self._url, self._trust, self._tls = f"{url.rstrip('/')}/v1/plans", trust, trust.tls()
        self._session = aiohttp.ClientSession(connector=Connector(), timeout=PATIENCE)

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        body = orjson.dumps(request_to_json(request))
        try:
            headers = {"Content-Type": "application/json", **self._trust.headers()}
            async with self._session.post(self._url, data=body, headers=headers, **self._tls) as response:
                status, content = response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            return Unready(f"the extender at {self._url} cannot be reached: {words_of(error)}")
        except OSError as error:
            return Unready(f"the token for the extender cannot be read: {error}")
        return _answer(content) if status == 200 else Unready(_refusal(status, content))

    async def close(self) -> None:
        """Give up the connections."""
        await self._session.close()


def _answer(content: bytes) -> PlanAnswer:
    try:
        return answer_from_json(orjson.loads(content))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        return Unready(f"the extender's answer cannot be read: {error!r}")


def _refusal(status: int, content: bytes) -> str:
    """With the extender's own words, where it has said any."""
    try:
        said = orjson.loads(content)["error"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return f"the extender answered HTTP {status}"
    return f"the extender answered HTTP {status}: {said}"
