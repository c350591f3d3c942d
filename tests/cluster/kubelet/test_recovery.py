"""What a kubelet knows after it, its disk, a write or its plugin failed."""

import pytest

from gpuyard import vocabulary
from tests.cluster.kubelet.world import World


def test_a_restarted_kubelet_knows_its_pods_and_their_devices(world: World) -> None:
    world.run("one", 3, annotations={vocabulary.RUN_SECONDS: "60"})
    before = world.api.pod("one")
    world.later(10)
    world.restart(plugin=False)
    assert world.amounts() == ("0", "0"), "as long as the plugin has not registered again"
    world.register()
    assert world.api.pod("one") == before
    assert len(world.plugin.allocated) == 1, "nothing is allocated again"
    assert world.run("two", 2)["status"]["phase"] == "Failed"
    world.later(50)
    assert world.api.pod("one")["status"]["phase"] == "Succeeded"


def test_what_ended_while_the_kubelet_was_away_is_free_when_it_is_back(world: World) -> None:
    world.run("one", 4)
    world.api.detach(world.kubelet)
    world.kubelet.stop()
    world.api.remove("pods", "one", "default")
    world.kubelet = world.new_kubelet()
    world.register()
    assert world.run("two", 4)["status"]["phase"] == "Running"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"Data": {}, "Checksum": 1}', b'{"Data": 5}'])
def test_a_damaged_disk_is_reported_and_the_kubelet_starts(content: bytes) -> None:
    world = World()
    for name in list(world.disk.files):
        world.disk.files[name] = content
    world.restart()
    assert sum("ignored" in beat.text for beat in world.beats) >= 1
    assert world.run("one", 4)["status"]["phase"] == "Running"


@pytest.mark.parametrize("failing", range(8))
def test_any_one_write_may_fail(failing: int) -> None:
    world = World(plugin=False)
    world.api.refuse = lambda write: 500 if len(world.api.writes) == failing + 1 else None
    world.restart()
    world.run("one", 2, annotations={vocabulary.RUN_SECONDS: "60"})
    world.run("two", 3)
    world.later(5)
    assert world.api.pod("two")["status"]["phase"] == "Failed"
    world.later(60)
    assert world.api.pod("one")["status"]["phase"] == "Succeeded"
    world.delete("one")
    world.later(5)
    assert ("pods", "default", "one") not in world.api.objects
    assert world.amounts() == ("4", "4")


def test_a_pod_deleted_while_its_plugin_thinks_leaves_nothing_behind(world: World) -> None:
    world.plugin.seconds = 6.0
    world.run("one", 4)
    world.api.remove("pods", "one", "default")
    world.later(6)
    world.plugin.seconds = 0.0
    assert world.run("two", 4)["status"]["phase"] == "Running"


def test_a_kubelet_that_died_while_its_plugin_was_thinking_writes_nothing_more(world: World) -> None:
    world.plugin.seconds = 6.0
    world.run("one", 2)
    world.restart()
    world.later(20)
    assert world.api.pod("one")["status"]["phase"] == "Running"
    entries = world.disk.files["kubelet_internal_checkpoint"].count(b"ContainerName")
    assert entries == 1
