"""What a plugin tells an audit: who holds what by its own word and by the kubelet's."""

import orjson
import pytest

from gpuyard import vocabulary
from gpuyard.auditing import accounts
from gpuyard.auditing.accounts import NodeAccounts
from gpuyard_device_plugin.pages import pages
from gpuyard_device_plugin.ports import PodResourcesError
from gpuyard_kube.serving import JSON_TEXT, Page
from tests.device_plugin.fakes import pod
from tests.device_plugin.world import World


def told(world: World) -> NodeAccounts:
    found = world.run(world.plugin.accounts())
    assert isinstance(found, NodeAccounts)
    return found


def test_both_accounts_name_what_each_container_holds() -> None:
    world = World()
    world.admit(first := pod("a"), second := pod("b", {"train": 2, "plain": 0}))
    held = {
        obj["metadata"]["uid"]: {"train": {vocabulary.GPU: set(world.kubelet.ids(obj))}}
        for obj in (first, second)
    }
    for account in (told(world).plugin, told(world).kubelet):
        assert account is not None
        found = {
            uid: {"train": {vocabulary.GPU: set(h["train"][vocabulary.GPU])}} for uid, h in account.items()
        }
        assert found == held
        assert all(containers.keys() == {"train"} for containers in account.values())


def test_an_init_container_is_known_to_the_plugin_alone() -> None:
    world = World()
    world.admit(obj := pod("a", {"train": 1}, init={"prepare": 1}))
    accounts_, uid = told(world), obj["metadata"]["uid"]
    assert accounts_.kubelet is not None
    assert accounts_.plugin[uid].keys() == {"prepare", "train"}
    assert accounts_.kubelet[uid].keys() == {"train"}


def test_of_pods_that_want_no_gpus_or_have_ended_nobody_is_asked() -> None:
    world = World()
    world.admit(pod("plain", {"train": 0}), ended := pod("ended"))
    world.plugin.observe("pods", "MODIFIED", {**ended, "status": {"phase": "Succeeded"}})
    assert told(world) == NodeAccounts()


def test_a_pod_that_the_kubelet_does_not_know_holds_nothing_by_its_word() -> None:
    world = World()
    world.plugin.observe("pods", "ADDED", obj := pod("a"))
    assert told(world) == NodeAccounts({}, {obj["metadata"]["uid"]: {}})


def test_to_ask_changes_nothing_and_never_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A List would make the kubelet drop ended pods' devices and work out anew what is taken."""
    world = World()
    world.admit(pod("a"))
    before = world.state()

    async def listed() -> None:
        raise AssertionError("List was called")

    monkeypatch.setattr(world.kubelet, "list", listed)
    assert told(world).kubelet
    assert world.state() is before


def test_a_kubelet_that_is_silent_is_said_and_the_plugins_own_account_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.admit(obj := pod("a"))

    async def silent(_namespace: str, _name: str) -> None:
        raise PodResourcesError("kubelet.sock: UNAVAILABLE")

    monkeypatch.setattr(world.kubelet, "get", silent)
    found = told(world)
    assert (found.kubelet, found.problem) == (None, "kubelet.sock: UNAVAILABLE")
    assert obj["metadata"]["uid"] in found.plugin


def test_the_page_says_the_same() -> None:
    world = World()
    world.admit(pod("a"))
    answers = iter((False, True))
    served = pages(world.plugin, lambda: next(answers))

    async def got(path: str) -> Page:
        return await served[path]()

    page = world.run(got(accounts.PLUGIN_PATH))
    assert (page.status, page.content_type) == (200, JSON_TEXT)
    assert accounts.node_from_json(orjson.loads(page.body)) == told(world)
    assert world.run(got("/livez")).body == b"ok"
    assert [world.run(got("/readyz")).status for _ in range(2)] == [503, 200]
