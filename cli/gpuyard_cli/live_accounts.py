"""The accounts of a real cluster, through its API server alone: it passes questions on to the pods of the parts.

Stands for `kubectl get --raw`. So nothing has to be exposed, and who may audit is a matter of the cluster's roles: it
takes `list` on nodes, pods, podgroups and reservations, and in gpuyard-system `get` on pods/proxy and `create` on
serviceaccounts/token of gpuyard-reader.
"""

from typing import Final

from gpuyard import accounts, vocabulary
from gpuyard.accounts import LedgerAccount, NodeAccounts
from gpuyard.evidence import Objects
from gpuyard_cli import requests
from gpuyard_cli.auditing import SilentError
from gpuyard_cli.extender_proxy import ExtenderProxy
from gpuyard_kube.http import HttpApi

_PODS: Final = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"
_PORT: Final = 8082
_OTHER_VERSION: Final = "bring command and cluster to one version of GPUYard"


class LiveAccounts:
    """`auditing.Accountants` behind `api`."""

    def __init__(self, api: HttpApi) -> None:
        self._api, self._extender = api, ExtenderProxy(api)

    async def objects(self) -> Objects:
        return await requests.everything(self._api)

    async def ledger(self) -> LedgerAccount:
        reply = await self._extender.ask(accounts.LEDGER_PATH)
        if not reply.ok:
            problem = reply.body.get("error") or reply.reason
            raise SilentError(f"{problem}; see the pods of {vocabulary.EXTENDER} in {vocabulary.NAMESPACE}")
        try:
            return accounts.ledger_from_json(reply.body)
        except ValueError as error:
            raise SilentError(f"{error}; {_OTHER_VERSION}") from error

    async def node(self, name: str) -> NodeAccounts:
        label = f"app.kubernetes.io/name={vocabulary.DEVICE_PLUGIN}"
        found = await self._api.read(_PODS, labelSelector=label, fieldSelector=f"spec.nodeName={name}")
        if not found.ok:
            raise SilentError(
                f"{found.reason}; audit as somebody who may list pods in {vocabulary.NAMESPACE}"
            )
        problem = "none runs there"
        for pod in found.body["items"]:
            path = f"{_PODS}/{pod['metadata']['name']}:{_PORT}/proxy{accounts.PLUGIN_PATH}"
            reply = await self._api.read(path)
            if reply.ok:
                return _read(reply.body)
            problem = reply.reason
        raise SilentError(f"{problem}; see the pods of {vocabulary.DEVICE_PLUGIN} in {vocabulary.NAMESPACE}")


def _read(body: object) -> NodeAccounts:
    try:
        return accounts.node_from_json(body)
    except ValueError as error:
        raise SilentError(f"{error}; {_OTHER_VERSION}") from error
