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
AGAIN_SECONDS = 1.0
"""As long as there is no node: one without a Lease would not be missed. Upstream it is 0.2 s, then ever longer."""
_DURATION_SECONDS = 40


class Heart:
    """Beats as long as the kubelet runs and its `node` is there."""

    def __init__(self, api: Api, runtime: Runtime) -> None:
        self._api, self._runtime = api, runtime
        self.node: JSON | None = None
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    def start(self, name: str) -> None:
        """Renew the Lease of the node of that name for as long as nobody says `stop`."""
        keep_on(self._runtime, partial(self._beat, name), f"kubelet {name} heartbeats")

    async def _beat(self, name: str) -> bool:
        if self._stopped:
            return False
        pause = AGAIN_SECONDS
        if self.node is not None:
            await self._renew(name, self.node)
            pause = RENEW_SECONDS
        await self._runtime.sleep_until(self._runtime.now() + pause)
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
