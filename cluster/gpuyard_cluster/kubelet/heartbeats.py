"""The Lease by which a node shows that its kubelet lives.

Stands for the kubelet's lease controller (`kube-node-lease`, 40 s, renewed every 10 s).
"""

from functools import partial

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.runtime import Runtime
from gpuyard_kube.timestamps import rfc3339_micro

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RENEW_SECONDS = 10.0
_DURATION_SECONDS = 40


class Heart:
    """Beats as long as the kubelet runs and its node is there, from that moment on: else nobody would miss it."""

    def __init__(self, api: Api, runtime: Runtime) -> None:
        self._api, self._runtime = api, runtime
        self._node: JSON | None = None
        self._changed, self._stopped = runtime.signal(), False

    def see(self, node: JSON | None) -> None:
        """The node as it is now, if it is there."""
        self._node = node
        self._changed.fire()

    def stop(self) -> None:
        self._stopped = True
        self._changed.fire()

    def start(self, name: str) -> None:
        """Renew the Lease of the node of that name for as long as nobody says `stop`."""
        keep_on(self._runtime, partial(self._beat, name), f"kubelet {name} heartbeats")

    async def _beat(self, name: str) -> bool:
        if self._stopped:
            return False
        if self._node is None:
            await self._changed.wait()
            return True
        await self._renew(name, self._node)
        await self._runtime.sleep_until(self._runtime.now() + RENEW_SECONDS)
        return True

    async def _renew(self, name: str, node: JSON) -> None:
        now = self._runtime.now()
        change = {"spec": {"renewTime": rfc3339_micro(now)}}
        reply = await self._api.send(Write("PATCH", f"{LEASES}/{name}", change, PatchType.MERGE))
        if reply.status == 404 and not self._stopped:
            await self._api.send(_creation(name, node, now))


def _creation(name: str, node: JSON, now: float) -> Write:
    """The Lease goes with its node."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
    body: JSON = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": "kube-node-lease", "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": _DURATION_SECONDS,
            "renewTime": rfc3339_micro(now),
        },
    }
    return Write("POST", LEASES, body)
