"""PreStartContainer: containers start when their plugins let them, and not before."""

from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.kubelet.preparation import RETRY_SECONDS
from tests.cluster.kubelet.world import World, told

NOT_YET = PluginError("FailedPrecondition", "not yet")
TEXT = (
    "device plugin PreStartContainer rpc failed with err: rpc error: code = FailedPrecondition desc = not yet"
)


class CarefulWorld(World):
    """A node whose plugin wants to be asked; at first it is not ready."""

    def __init__(self) -> None:
        super().__init__(plugin=False)
        self.plugin.pre_starts, self.plugin.not_ready = True, NOT_YET
        self.register()

    def waiting(self, name: str) -> tuple[str, JSON | None]:
        status = self.api.pod(name)["status"]
        return status["phase"], status["containerStatuses"][0]["state"].get("waiting")


def test_the_plugin_is_asked_with_the_ids_that_the_container_was_given() -> None:
    world = CarefulWorld()
    world.plugin.not_ready = None
    started = world.run("one", 2)
    assert started["status"]["phase"] == "Running"
    assert [sorted(ids) for ids in world.plugin.prepared] == [world.ids("one")]


def test_a_plugin_that_does_not_want_it_is_not_asked() -> None:
    world = World()
    world.plugin.not_ready = NOT_YET
    assert world.run("one", 1)["status"]["phase"] == "Running"


def test_a_pod_waits_with_the_plugin_s_words_and_shows_its_devices_already() -> None:
    world = CarefulWorld()
    world.run("one", 1)
    assert world.waiting("one") == ("Pending", {"reason": "CreateContainerConfigError", "message": TEXT})
    assert len(world.ids("one")) == 1
    ready = next(c for c in world.api.pod("one")["status"]["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")


def test_the_start_is_tried_again_until_it_succeeds() -> None:
    world = CarefulWorld()
    world.run("one", 1)
    world.later(RETRY_SECONDS)
    assert world.waiting("one") == ("Pending", {"reason": "CreateContainerConfigError", "message": TEXT})
    world.plugin.not_ready = None
    world.later(RETRY_SECONDS)
    assert world.waiting("one") == ("Running", None)
    assert [text.partition(":")[0] for text in told(world)] == ["Failed", "Pulled", "Created", "Started"]


def test_other_pods_are_admitted_meanwhile() -> None:
    world = CarefulWorld()
    world.run("one", 1)
    assert world.run("beside")["status"]["phase"] == "Running"


def test_a_pod_that_never_ran_goes_at_once_and_gives_its_devices_back() -> None:
    world = CarefulWorld()
    world.run("one", 4)
    world.delete("one")
    assert ("pods", "default", "one") not in world.api.objects
    world.plugin.not_ready = None
    assert world.run("two", 4)["status"]["phase"] == "Running"


def test_a_kubelet_that_starts_anew_asks_again() -> None:
    world = CarefulWorld()
    world.run("one", 1)
    world.plugin.not_ready = None
    world.restart()
    world.later(RETRY_SECONDS)
    assert world.waiting("one") == ("Running", None)
    assert [sorted(ids) for ids in world.plugin.prepared] == [world.ids("one")]


def test_nobody_starts_while_the_plugin_is_away() -> None:
    world = CarefulWorld()
    world.run("one", 1)
    world.restart(plugin=False)
    world.later(RETRY_SECONDS)
    phase, waits = world.waiting("one")
    assert phase == "Pending"
    assert waits is not None
    assert "no plugin is connected for nvidia.com/gpu" in waits["message"]


def test_a_deadline_ends_a_pod_that_waits() -> None:
    world = CarefulWorld()
    world.run("one", 1, activeDeadlineSeconds=15)
    world.later(20.0)
    assert world.api.pod("one")["status"]["reason"] == "DeadlineExceeded"
