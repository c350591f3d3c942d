"""Questions of people to the extender of a real cluster, through the API server, so that nothing has to be exposed.

Stands for `kubectl get --raw`. The API server's proxy takes the header `Authorization` for itself (kubernetes#38775):
the extender, which wants to know who asks, gets a token of the account `gpuyard-reader` in a header of our own.
"""

from typing import Final, Protocol

from gpuyard import vocabulary
from gpuyard.writes import JSON, Reply, Write
from gpuyard_kube.http import HttpApi

_PODS: Final = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"
_TOKENS: Final = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/serviceaccounts/{vocabulary.READER}/token"
_PORT: Final = 8081
_TOKEN_SECONDS: Final = 3600
"""Longer than a command runs."""
_NOBODY: Final = Reply(503, {"message": "no extender runs in the cluster: kubectl apply -k manifests/"})


class Asked(Protocol):
    """An extender that answers people."""

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        """GET, or POST where there is a body."""


class NearbyExtender:
    """The one extender of a cluster on this machine, which trusts whoever can connect to it."""

    def __init__(self, extender: HttpApi) -> None:
        self._extender = extender

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        """GET, or POST where there is a body."""
        return await _asked(self._extender, path, body)


class ExtenderProxy:
    """Any extender of the cluster behind `api`: each knows all of it."""

    def __init__(self, api: HttpApi) -> None:
        self._api = api
        self._asking: HttpApi | None = None

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        """Ask the first extender that answers; else what the last one said, or why there is none."""
        if self._asking is None:
            self._asking = self._api.bearing(await self._token())
        label = f"app.kubernetes.io/name={vocabulary.EXTENDER}"
        found = await self._api.read(_PODS, labelSelector=label)
        reply = _NOBODY if found.ok else found
        pods = found.body.get("items") or () if found.ok else ()
        # One on a machine that is off comes last: the API server would wait half a minute for it.
        for pod in sorted(pods, key=_is_ready, reverse=True):
            reply = await _asked(self._asking, f"{_PODS}/{_address(pod)}/proxy{path}", body)
            if reply.ok:
                break
        return reply

    async def _token(self) -> dict[str, str]:
        """The header with a token; without one, where none can be had, the extender says what is missing."""
        spec = {"audiences": [vocabulary.EXTENDER], "expirationSeconds": _TOKEN_SECONDS}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        reply = await self._api.send(Write("POST", _TOKENS, body))
        return {vocabulary.TOKEN_HEADER: reply.body["status"]["token"]} if reply.ok else {}


async def _asked(api: HttpApi, path: str, body: JSON | None) -> Reply:
    return await (api.read(path) if body is None else api.send(Write("POST", path, body)))


def _is_ready(pod: JSON) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)


def _address(pod: JSON) -> str:
    """The pod as the proxy wants it named; its probe tells whether it speaks TLS."""
    probe = pod["spec"]["containers"][0].get("readinessProbe") or {}
    encrypted = (probe.get("httpGet") or {}).get("scheme") == "HTTPS"
    return f"{'https:' if encrypted else ''}{pod['metadata']['name']}:{_PORT}"
