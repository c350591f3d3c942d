"""The barrier of gangs, and what becomes of Bindings that fail, on a clock that is moved by hand."""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import orjson
import pytest

from gpuyard.verdicts import Reason
from gpuyard_extender.binding import binding
from gpuyard_extender.binding.binder import Binder
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.web.app import create_app
from gpuyard_kube.store import Store
from tests.extender.builders import PodServer, Stage, device, gpu_node, gpu_pod, reservation
from tests.extender.web.test_app import answered

OWNERS = {"binding": binding, "Ledger": Ledger, "PodServer": PodServer, "Binder": Binder}


def gang(size: int = 2, needed: int = 2, seconds: float = 60) -> tuple[Stage, list[dict]]:  # type: ignore[type-arg]
    """A gang with one seat on each node node-0, node-1, …"""
    nodes = [f"node-{i}" for i in range(size)]
    stage = Stage(*(gpu_node(name, 1) for name in nodes))
    pods = [gpu_pod(f"m{i}", group="g") for i in range(size)]
    stage.create(*pods)
    seats = {f"m{i}": (name, [device(name, 0)]) for i, name in enumerate(nodes)}
    expires = stage.clock.now() + seconds
    stage.extender.observe("reservations", "ADDED", reservation("g", seats, expires=expires, needed=needed))
    return stage, pods


def test_a_gang_is_bound_when_its_last_member_has_arrived() -> None:
    stage, pods = gang(3, 3)
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods[:2])]
    stage.wait(2)
    assert (answers, stage.server.bindings) == ([[], []], [])
    answers.append(stage.bind(pods[2], "node-2"))
    stage.settle()
    assert answers == [[""], [""], [""]]
    assert sorted(stage.server.bindings) == ["m0", "m1", "m2"]


def test_all_who_wait_are_refused_at_one_moment_when_a_member_does_not_come() -> None:
    stage, pods = gang(3, 3)
    first = stage.bind(pods[0], "node-0")
    stage.wait(2)
    second = stage.bind(pods[1], "node-1")
    stage.wait(0.9)
    assert (first, second) == ([], [])
    stage.wait(0.2)
    assert first == second == [Reason.GANG_WAITING.text]
    assert stage.server.bindings == []


def test_who_comes_without_the_first_seat_gives_up_earlier_but_waits_as_long_as_the_first_once_it_is_there() -> (
    None
):
    stage, pods = gang(3, 3)
    alone = stage.bind(pods[1], "node-1")
    stage.wait(1.9)
    assert alone == []
    stage.wait(0.2)
    assert alone == [Reason.GANG_WAITING.text]
    second = stage.bind(pods[1], "node-1")
    stage.wait(1.9)
    first = stage.bind(pods[0], "node-0")
    stage.wait(1.0)
    assert (first, second) == ([], [])
    stage.wait(0.2)
    assert first == second == [Reason.GANG_WAITING.text]


@pytest.mark.parametrize("apart", [3.5, 5.0, 6.5, 9.0])
def test_members_whose_back_offs_have_come_apart_meet_again(apart: float) -> None:
    """kube-scheduler tries each 10 s after its last error, which no event shortens."""
    stage, pods = gang(3, 3, seconds=1000)
    due = {0: 0.0, 1: apart, 2: 2 * apart}
    standing: dict[int, list[str]] = {}
    for tick in range(1200):
        for i in [i for i, when in due.items() if when <= tick / 2]:
            standing[i] = stage.bind(pods[i], f"node-{i}")
            del due[i]
        stage.wait(0.5)
        for i in [i for i, answers in standing.items() if answers and answers[0]]:
            del standing[i]
            due[i] = (tick + 1) / 2 + 10
    assert sorted(stage.server.bindings) == ["m0", "m1", "m2"]


@pytest.mark.parametrize(
    "place",
    ["binding.decide", "Ledger.assume", "PodServer.send", "PodServer.read", "Binder._confirm"],
)
def test_a_fault_of_ours_in_one_bind_is_answered_at_once_and_nobody_waits_on(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, pods = gang(3, 3, seconds=1000)
    verbs, answers = create_app(stage.extender), list[tuple[int, Any]]()
    stage.server.failures = [500] if place == "PodServer.read" else []

    async def ask(number: int) -> None:
        metadata = pods[number]["metadata"]
        fields = {
            "PodName": metadata["name"],
            "PodNamespace": metadata["namespace"],
            "PodUID": metadata["uid"],
        }
        asked = orjson.dumps({**fields, "Node": f"node-{number}"})
        answers.append(await answered(verbs, "POST", "/bind", asked))

    def fault(*_: object) -> None:
        raise LookupError("a bug")

    for number in range(3):
        if number == 2:
            owner, _, name = place.rpartition(".")
            monkeypatch.setattr(OWNERS[owner], name, fault)
        stage.clock.spawn(ask(number), "bind")
        stage.settle()
    assert [status for status, _ in answers] == [200] * 3
    assert all(answer["Error"] for _, answer in answers)
    assert stage.extender.binder.held == 0
    monkeypatch.undo()
    stage.wait(60)  # Nobody knows what became of a Binding: for so long its device is nobody else's.
    for number, pod in enumerate(pods):
        stage.bind(pod, f"node-{number}")
    stage.settle()
    assert sorted(stage.server.bindings) == ["m0", "m1", "m2"]


def drained(stage: Stage, seconds: float = 5) -> list[float]:
    """When a drain that begins now has ended, in seconds, once it has."""
    ended, began = list[float](), stage.clock.now()

    async def drain() -> None:
        await stage.extender.binder.drain(began + seconds)
        ended.append(stage.clock.now() - began)

    stage.clock.spawn(drain(), "drain")
    stage.settle()
    return ended


def test_who_waits_for_members_that_will_go_to_the_next_extender_is_refused_at_once() -> None:
    stage, pods = gang(3, 3)
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods[:2])]
    assert drained(stage) == [0]
    assert answers == [[Reason.LEADER_UNAVAILABLE.text]] * 2
    assert stage.server.bindings == []


def test_a_gang_of_which_one_is_being_bound_is_bound_as_a_whole_before_the_extender_ends() -> None:
    stage, pods = gang(3, 3)
    stage.server.slow = 0.3
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods)]
    stage.wait(0.1)
    ended = drained(stage)
    assert ended == []
    stage.wait(1)
    assert (answers, len(stage.server.bindings)) == ([[""]] * 3, 3)
    assert ended == [pytest.approx(0.5)]


def test_a_gang_that_is_bound_in_part_is_bound_as_a_whole_though_it_is_still_being_looked_who_is_there() -> (
    None
):
    stage, pods = gang(4, 4)
    stage.change("m0", "spec", nodeName="node-0")
    stage.extender.succession.begin()
    stage.server.late = 0.05
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods) if i]
    ended = drained(stage)
    assert ended == []
    stage.wait(1)
    assert (answers, ended) == ([[""]] * 3, [pytest.approx(0.05)])


def test_who_waits_for_members_of_a_gang_bound_in_part_that_go_elsewhere_is_refused_at_once() -> None:
    stage, pods = gang(4, 4)
    stage.change("m0", "spec", nodeName="node-0")
    answers = [stage.bind(pods[i], f"node-{i}") for i in (1, 2)]
    assert drained(stage) == [0]
    assert answers == [[Reason.LEADER_UNAVAILABLE.text]] * 2


def test_an_extender_that_ends_waits_no_longer_than_told_and_not_at_all_where_nothing_goes_on() -> None:
    stage, pods = gang(1, 1)
    assert drained(stage) == [0]
    stage.server.slow = 60
    stage.bind(pods[0], "node-0")
    ended = drained(stage)
    stage.wait(5)
    assert ended == [5]


def test_members_that_are_bound_already_count() -> None:
    stage, pods = gang()
    bound = gpu_pod("m0", group="g", node="node-0", phase="Running")
    stage.extender.observe("pods", "MODIFIED", bound)
    assert stage.bound(pods[1], "node-1") == ""


def test_a_member_seen_bound_by_somebody_else_opens_the_barrier() -> None:
    stage, pods = gang()
    answers = stage.bind(pods[1], "node-1")
    stage.settle()
    stage.extender.observe("pods", "MODIFIED", gpu_pod("m0", group="g", node="node-0"))
    stage.settle()
    assert answers == [""]


def test_more_members_than_needed_do_not_wait_for_each_other() -> None:
    stage, pods = gang(3, 1)
    assert stage.bound(pods[2], "node-2") == ""


def test_a_newer_bind_replaces_the_one_that_waits() -> None:
    stage, pods = gang()
    old, new = stage.bind(pods[0], "node-0"), stage.bind(pods[0], "node-0")
    stage.settle()
    assert (old, new) == (["a newer Bind of the pod has come"], [])
    last = stage.bind(pods[1], "node-1")
    stage.settle()
    assert (new, last) == ([""], [""])
    assert sorted(stage.server.bindings) == ["m0", "m1"]


def test_a_member_that_is_deleted_while_it_waits_fails_the_others_at_once() -> None:
    stage, pods = gang(3, 3)
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods[:2])]
    stage.settle()
    stage.delete(pods[0])
    stage.settle()
    assert answers == [["a member of the pod group was deleted"]] * 2
    assert stage.server.bindings == []


def test_a_gang_that_loses_its_reservation_waits_no_more() -> None:
    stage, pods = gang()
    answers = stage.bind(pods[0], "node-0")
    stage.settle()
    stage.extender.replace("reservations", [])
    stage.settle()
    assert answers == [Reason.RESERVATION_MISSING.text]


def test_a_gang_whose_first_binding_fails_is_refused_as_a_whole_and_comes_again_together() -> None:
    stage, pods = gang(3, 3)
    stage.server.failures = [403]
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods)]
    stage.settle()
    assert answers == [["injected"], *[["another member of the pod group could not be bound"]] * 2]
    assert stage.server.bindings == []
    again = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods)]
    stage.settle()
    assert again == [[""]] * 3
    assert sorted(stage.server.bindings) == ["m0", "m1", "m2"]


def test_the_first_seat_goes_ahead_whoever_came_last() -> None:
    stage, pods = gang(3, 3)
    for i in (2, 0, 1):
        stage.bind(pods[i], f"node-{i}")
    stage.settle()
    assert stage.server.bindings[0] == "m0"


def test_a_member_whose_binding_failed_joins_the_bound_ones_later() -> None:
    stage, pods = gang()
    stage.server.failures = [0, 500]
    answers = [stage.bind(pod, f"node-{i}") for i, pod in enumerate(pods)]
    stage.settle()
    assert answers == [[""], ["injected"]]
    assert stage.bound(pods[1], "node-1") == ""
    assert sorted(stage.server.bindings) == ["m0", "m1"]


def test_two_binds_of_one_pod_write_one_binding() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod = gpu_pod("twice")
    stage.create(pod)
    stage.server.slow = 2.0
    answers = [stage.bind(pod, "node-1"), stage.bind(pod, "node-1")]
    stage.wait(1)
    assert answers == [[], []]
    stage.wait(2)
    assert answers == [[""], [""]]
    assert stage.bound(pod, "node-1") == ""
    assert stage.bound(pod, "node-2") == "the pod is bound to another node"
    assert stage.server.bindings == ["twice"]


def test_a_second_bind_tries_itself_when_the_first_one_fails() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    pod = gpu_pod("twice")
    stage.create(pod)
    stage.server.slow, stage.server.failures = 2.0, [500]
    first, second = stage.bind(pod, "node-1"), stage.bind(pod, "node-2")
    stage.wait(5)
    assert (first, second) == (["injected"], [""])
    assert stage.server.pods["twice"]["spec"]["nodeName"] == "node-2"


def test_a_binding_whose_answer_was_lost_counts_as_done() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod = gpu_pod("lost")
    stage.create(pod)
    stage.server.lost_answers = 1
    assert stage.bound(pod, "node-1") == ""
    assert stage.filter(gpu_pod("other"))["NodeNames"] == []


def test_a_pod_that_an_earlier_process_bound_counts_as_bound() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod = gpu_pod("known")
    stage.create(pod)
    stage.server.pods["known"] = gpu_pod("known", node="node-1")
    assert stage.bound(pod, "node-1") == ""


def test_a_refused_binding_gives_the_devices_back() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod, other = gpu_pod("refused"), gpu_pod("other")
    stage.create(pod, other)
    stage.server.failures = [403]
    assert stage.bound(pod, "node-1") == "injected"
    assert stage.filter(other)["NodeNames"] == ["node-1"]


def test_devices_of_a_binding_of_unknown_fate_are_kept_until_the_pod_is_seen() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod, other = gpu_pod("unknown"), gpu_pod("other")
    stage.create(pod, other)
    stage.server.failures, stage.server.silent = [503], True
    assert stage.bound(pod, "node-1") == "injected"
    stage.wait(30)
    assert stage.filter(other)["NodeNames"] == []
    stage.delete(pod)
    assert stage.filter(other)["NodeNames"] == ["node-1"]


@pytest.mark.parametrize("status", [401, 403, 404, 422, 429])
def test_devices_of_a_binding_that_was_refused_for_sure_are_free_though_nothing_can_be_read(
    status: int,
) -> None:
    """As when the token cannot be read."""
    stage = Stage(gpu_node("node-1", 1))
    pod, other = gpu_pod("refused"), gpu_pod("other")
    stage.create(pod, other)
    stage.server.failures, stage.server.silent = [status], True
    assert stage.bound(pod, "node-1") == "injected"
    assert stage.filter(other)["NodeNames"] == ["node-1"]


def test_a_bind_of_a_pod_that_is_gone_is_refused() -> None:
    stage = Stage(gpu_node("node-1", 1))
    pod = gpu_pod("gone")
    stage.create(pod)
    stage.delete(pod)
    assert stage.bound(pod, "node-1")
    assert stage.bound(gpu_pod("gone", uid="uid-of-a-namesake"), "node-1")
    assert stage.server.bindings == []


def test_a_bind_looks_at_no_more_pods_the_larger_its_gang_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a gang of 512 each Bind would look at all others, several times while they are held."""
    looked: Counter[int] = Counter()
    get = Store.get
    for size in (8, 32):
        stage, pods = gang(size, size)
        monkeypatch.setattr(Store, "get", lambda *asked, size=size: looked.update([size]) or get(*asked))
        for i, pod in enumerate(pods):
            stage.bind(pod, f"node-{i}")
        monkeypatch.undo()
        stage.settle()
        assert len(stage.server.bindings) == size
    assert looked[32] / 32 <= 1.5 * looked[8] / 8


def calls(work: Callable[[], object]) -> int:
    """How many functions are called."""
    count, before = 0, sys.getprofile()

    def note(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_a_bind_is_as_much_work_however_many_pods_wait() -> None:
    """G14."""
    counts = []
    for waiting in (5, 100):
        stage = Stage(gpu_node("node-0", 1))
        large, pod = [gpu_pod(f"w{n}", gpus=2) for n in range(waiting)], gpu_pod("p")
        stage.create(*large, pod)
        for each in (*large, pod):
            stage.filter(each)
        counts.append(calls(partial(stage.bound, pod, "node-0")))
        assert stage.server.bindings == ["p"]
    assert counts[1] <= counts[0]
