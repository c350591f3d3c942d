from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.kubelet.heartbeats import LEASES, RENEW_SECONDS, Heart
from tests.stepping import settle


class Chest:
    """A heart on a stepped clock, and the API server that hears it."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.api = DirectApi(APIServer(self.steps.now), "kubelet")
        self.heart = Heart(self.api, self.steps)
        self.heart.start("node-1")

    def register(self) -> None:
        write = Write("POST", "/api/v1/nodes", {"metadata": {"name": "node-1"}})
        self.heart.see(self.steps.complete(self.api.send(write)).body)

    def later(self, seconds: float) -> None:
        settle(self.steps, self.steps.now() + seconds)

    def lease(self) -> JSON | None:
        reply: Reply = self.steps.complete(self.api.read(f"{LEASES}/node-1"))
        return reply.body if reply.ok else None


def test_the_lease_belongs_to_its_node_and_is_renewed() -> None:
    chest = Chest()
    chest.register()
    chest.later(1)
    first = chest.lease()
    assert first is not None
    assert first["metadata"]["ownerReferences"][0]["kind"] == "Node"
    assert first["spec"]["leaseDurationSeconds"] == 40
    chest.later(RENEW_SECONDS)
    renewed = chest.lease()
    assert renewed is not None
    assert renewed["spec"]["renewTime"] > first["spec"]["renewTime"]
    assert renewed["metadata"]["uid"] == first["metadata"]["uid"]


def test_a_node_has_a_lease_as_soon_as_it_is_registered_so_that_it_is_missed_when_its_kubelet_ends() -> None:
    chest = Chest()
    chest.later(RENEW_SECONDS / 2)
    chest.register()
    chest.later(0)
    assert chest.lease() is not None


def test_without_a_node_or_after_the_end_there_is_no_beat() -> None:
    chest = Chest()
    chest.later(RENEW_SECONDS)
    assert chest.lease() is None
    chest.register()
    chest.heart.stop()
    chest.later(3 * RENEW_SECONDS)
    assert chest.lease() is None
    assert chest.steps.next_at() is None
