"""The accounts of a real cluster, through its API server alone: it passes questions on to the pods of the parts.

Stands for `kubectl get --raw`. So nothing has to be exposed, and who may audit is a matter of the cluster's roles: it
takes `list` on nodes, pods, podgroups and reservations, and in gpuyard-system `get` on pods/proxy and `create` on
serviceaccounts/token of gpuyard-reader.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from gpuyard import vocabulary
from gpuyard.auditing import accounts
from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts
from gpuyard.auditing.evidence import Objects
from gpuyard.writes import JSON, Reply
from gpuyard_cli.connecting.extender_proxy import Asked, ExtenderProxy, NearbyExtender
from gpuyard_cli.scenarios import requests
from gpuyard_cli.scenarios.auditing import Silent
from gpuyard_cli.scenarios.observation import stays
from gpuyard_kube.http import HttpApi

_PODS: Final = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"
_PORT: Final = 8082
_AT_ONCE: Final = 16
"""Nodes that are asked at the same time: one that is down keeps the API server waiting for half a minute."""

T = TypeVar("T")


class LiveAccounts:
    """`auditing.Accountants` behind `api`."""

    def __init__(self, api: HttpApi, extender: Asked | None = None) -> None:
        self._api, self._extender = api, extender or ExtenderProxy(api)

    async def objects(self) -> Objects:
        return await requests.everything(self._api)

    async def ledger(self) -> LedgerAccount | Silent:
        reply = await self._extender.ask(accounts.LEDGER_PATH)
        return _read(reply, accounts.ledger_from_json, vocabulary.EXTENDER)

    async def nodes(self, names: Sequence[str]) -> Mapping[str, NodeAccounts | Silent]:
        if isinstance(self._extender, NearbyExtender):
            return {}  # Kubelets and plugins are parts of that process, which lets nobody ask them.
        label = f"app.kubernetes.io/name={vocabulary.DEVICE_PLUGIN}"
        found = await self._api.read(_PODS, labelSelector=label)
        if not found.ok:
            forbidden = f"{found.reason}; audit as somebody who may list pods in {vocabulary.NAMESPACE}"
            return dict.fromkeys(names, Silent(forbidden))
        plugins = {pod["spec"].get("nodeName"): pod for pod in found.body["items"] if stays(pod)}
        turns = asyncio.Semaphore(_AT_ONCE)

        async def ask(name: str) -> NodeAccounts | Silent:
            async with turns:
                return await self._ask(plugins.get(name))

        return dict(zip(names, await asyncio.gather(*map(ask, names)), strict=True))

    async def _ask(self, plugin: JSON | None) -> NodeAccounts | Silent:
        if plugin is None:
            return Silent(
                f"none runs there; see the DaemonSet {vocabulary.DEVICE_PLUGIN} in {vocabulary.NAMESPACE}"
            )
        reply = await self._api.read(
            f"{_PODS}/{plugin['metadata']['name']}:{_PORT}/proxy{accounts.PLUGIN_PATH}"
        )
        return _read(reply, accounts.node_from_json, vocabulary.DEVICE_PLUGIN)


def _read(reply: Reply, read: Callable[[JSON], T], part: str) -> T | Silent:
    if not reply.ok:
        problem = " ".join(str(reply.body.get("error") or reply.reason).split())
        return Silent(f"{problem}; see the pods of {part} in {vocabulary.NAMESPACE}")
    try:
        return read(reply.body)
    except ValueError as error:
        return Silent(f"{error}; bring command and cluster to one version of GPUYard")
