"""Groups with a queue: its quota holds, its order holds, and people are told why a group waits."""

import gc
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.groups import queues
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable
from gpuyard.groups.queues import Queue
from gpuyard.pods.amounts import Amounts
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, Reply, Write
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues.queue_state import QueueState
from gpuyard_operator.queues.workloads import HEAD_SECONDS
from tests.gang_operator.world import World, group_path, node_path, pod_path


@pytest.fixture
def world() -> World:
    found = World()
    found.node("node-1", gpus=8)
    return found


def gang(world: World, name: str, pods: int = 2, queue: str = "red", **fields: Any) -> None:
    """A gang that needs all its pods, and is younger than those before it."""
    world.group(name, queue=queue, minMember=pods)
    for number in range(pods):
        world.pod(f"{name}-{number}", group=name, **fields)
    world.advance(1)


def running(world: World) -> set[str]:
    """The gangs of which a pod is bound; none is bound in part."""
    return {name.rpartition("-")[0] for name in world.bound()}


def end(world: World, name: str) -> None:
    world.delete(group_path(name))
    for pod in [found for found in world.bound() if found.startswith(f"{name}-")]:
        world.delete(pod_path(pod))


def used(world: World, name: str = "red") -> JSON:
    obj = world.at(f"{queues.PATH}/{name}")
    assert obj is not None
    found: JSON = obj.get("status", {})
    return found


def test_of_two_jobs_with_quota_for_one_one_runs_and_the_other_waits_as_a_whole(world: World) -> None:
    """G6."""
    world.queue("red", gpus=2)
    gang(world, "a")
    gang(world, "b")
    assert running(world) == {"a"}
    told = world.condition(name="b")
    assert (told["status"], told["reason"]) == ("False", "QuotaExceeded")
    assert told["message"] == "queue red: nvidia.com/gpu: needs 2, 0 left of 2; first in queue red"
    end(world, "a")
    world.advance(1)
    assert running(world) == {"b"}


def test_what_waits_for_quota_stays_gated_and_nobody_is_asked_for_places(world: World) -> None:
    """G51: a pod without its gate would wake an autoscaler."""
    world.queue("red", gpus=1)
    gang(world, "a")
    assert world.gates("a-0") == [vocabulary.GANG_GATE]
    assert world.questions == []
    assert "1 left of 1" in world.condition(name="a")["message"]


def test_a_queue_that_does_not_exist_is_named_and_waited_for(world: World) -> None:
    """G30."""
    gang(world, "a", queue="rde")
    told = world.condition(name="a")
    assert (told["reason"], told["message"]) == (
        "NoSuchQueue", "there is no Queue rde, which gpuyard.io/queue names",
    )  # fmt: skip
    world.queue("rde", gpus=2)
    world.advance(1)
    assert running(world) == {"a"}


def test_names_of_queues_that_never_were_are_told_in_few_words_and_forgotten(world: World) -> None:
    names = [*map(str, range(20)), "q" * 100_000]
    before = sum(isinstance(found, QueueState) for found in gc.get_objects())
    for number, name in enumerate(names):
        gang(world, f"g{number}", pods=1, queue=name)
    assert {world.condition(name=f"g{number}")["reason"] for number in range(len(names))} == {"NoSuchQueue"}
    assert len(world.condition(name="g20")["message"]) < 400
    for number in range(len(names)):
        world.delete(group_path(f"g{number}"))
        world.delete(pod_path(f"g{number}-0"))
    world.advance(5)
    gc.collect()
    assert sum(isinstance(found, QueueState) for found in gc.get_objects()) <= before


def test_a_start_is_as_much_work_beside_queues_that_nobody_uses(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, expire = list[QueueState](), QueueState.expire

    def looking(state: QueueState, now: float) -> set[Key]:
        looked.append(state)
        return expire(state, now)

    monkeypatch.setattr(QueueState, "expire", looking)
    for number in range(50):
        world.queue(f"idle-{number}", gpus=1)
    world.queue("red", gpus=4)
    world.advance(5)
    looked.clear()
    gang(world, "a")
    assert running(world) == {"a"}
    assert {id(state) for state in looked} == {id(looked[0])}


def test_a_quota_that_is_raised_lets_the_first_in(world: World) -> None:
    world.queue("red", gpus=2)
    for name in ("a", "b", "c"):
        gang(world, name)
    world.api.patch(f"{queues.PATH}/red", {"spec": {"quota": {vocabulary.GPU: 4}}})
    world.advance(1)
    assert running(world) == {"a", "b"}


def test_priority_comes_before_age(world: World) -> None:
    world.api.create(
        "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "urgent"}, "value": 10}
    )
    world.queue("red", gpus=2)
    gang(world, "a")
    gang(world, "old")
    gang(world, "urgent", priorityClassName="urgent")
    assert "behind default/urgent" in world.condition(name="old")["message"]
    end(world, "a")
    world.advance(1)
    assert running(world) == {"urgent"}


def test_a_small_gang_does_not_take_the_quota_that_the_first_waits_for(world: World) -> None:
    world.queue("red", gpus=4)
    gang(world, "a")
    gang(world, "large", pods=4)
    gang(world, "small", pods=1)
    assert running(world) == {"a"}
    told = world.condition(name="small")
    assert told["reason"] == "QueuedBehind"
    assert told["message"].startswith("position 2 in queue red, behind default/large")
    end(world, "a")
    world.advance(1)
    assert running(world) == {"large"}


def test_a_gang_that_needs_more_than_the_quota_is_told_so_and_holds_up_nobody(world: World) -> None:
    world.queue("red", gpus=2)
    gang(world, "huge", pods=3)
    gang(world, "small")
    assert running(world) == {"small"}
    assert "needs 3, 2 left of 2: more than all of it" in world.condition(name="huge")["message"]


def test_nobody_takes_the_room_that_the_first_waits_for_within_its_hour(world: World) -> None:
    world.queue("red", gpus=100)
    gang(world, "a", pods=4)
    gang(world, "large", pods=8)
    gang(world, "small", pods=1)
    assert world.condition(name="large")["reason"] == "GangUnplaceable"
    assert world.condition(name="small")["reason"] == "QueuedBehind"
    world.advance(HEAD_SECONDS - 10)
    assert running(world) == {"a"}
    end(world, "a")
    world.advance(1)
    assert running(world) == {"large"}


def test_after_its_hour_the_first_is_overtaken(world: World) -> None:
    world.queue("red", gpus=100)
    gang(world, "a", pods=4)
    gang(world, "large", pods=8)
    gang(world, "small", pods=1)
    world.restart()
    world.advance(HEAD_SECONDS + 1)
    assert running(world) == {"a", "small"}
    end(world, "small")
    end(world, "a")
    world.advance(1)
    assert running(world) == {"large"}
    assert "scheduleStartTime" not in world.status("large")


@pytest.mark.parametrize("conditions", [True, False])
def test_a_gang_that_no_cluster_of_this_size_can_hold_holds_up_nobody(world: World, conditions: bool) -> None:
    world.keep_conditions(conditions)
    by_counts = world.answer
    excess = Rejection("", Reason.INSUFFICIENT_GPUS, "all 9 members need 9 nvidia.com/gpu, all nodes have 8")

    def answer(request: PlanRequest) -> PlanAnswer:
        return Unplaceable("huge-8", (excess,)) if request.group == "huge" else by_counts(request)

    world.answer = answer
    world.queue("red", gpus=100)
    gang(world, "huge", pods=9)
    gang(world, "small", pods=1)
    assert running(world) == {"small"}


def test_a_quota_that_is_raised_while_the_queue_is_told_of_lets_in_who_waits(world: World) -> None:
    meanwhile = [{"spec": {"quota": {vocabulary.GPU: 4}}}]
    world.queue("red", gpus=2)
    gang(world, "a")
    gang(world, "b")
    world.advance(10)
    assert running(world) == {"a"}

    def change(write: Write) -> bool:
        if meanwhile and write.path == f"{queues.PATH}/red/status":
            world.api.patch(f"{queues.PATH}/red", meanwhile.pop())
        return False

    world.api.fails = change
    gang(world, "c")
    world.advance(5)
    assert not meanwhile
    assert running(world) == {"a", "b"}


def test_a_model_that_a_node_names_later_lets_in_who_waits_for_its_quota(world: World) -> None:
    world.queue("red", gpus=8, H100=2)
    gang(world, "a")
    world.node("node-2", gpus=2)
    world.api.patch("/api/v1/nodes/node-2", {"metadata": {"labels": product("H100")}})
    gang(world, "b", nodeSelector=product("H100"))
    world.advance(5)
    assert running(world) == {"a"}
    world.api.patch("/api/v1/nodes/node-1", {"metadata": {"labels": product("A100")}})
    world.advance(5)
    assert running(world) == {"a", "b"}


def test_a_node_that_names_its_model_makes_one_group_look_for_all_queues(world: World) -> None:
    for number in range(20):
        world.queue(f"q{number}", gpus=1)
        gang(world, f"g{number}", queue=f"q{number}")
    world.advance(60)
    before = world.operator.tally.reconciles
    world.api.patch("/api/v1/nodes/node-1", {"metadata": {"labels": product("A100")}})
    world.settle()
    assert world.operator.tally.reconciles - before <= 2


def test_of_two_queues_the_one_that_uses_less_of_its_quota_has_the_next_room(world: World) -> None:
    world.queue("red", gpus=8)
    world.queue("blue", gpus=8)
    gang(world, "r1", pods=4)
    gang(world, "r2", pods=4)
    gang(world, "r3", pods=4)
    gang(world, "b1", pods=4, queue="blue")
    assert running(world) == {"r1", "r2"}
    assert "needs 4, 0 left of 8" in world.condition(name="r3")["message"]
    world.api.patch(f"{queues.PATH}/red", {"spec": {"quota": {vocabulary.GPU: 16}}})
    world.advance(1)
    assert "default/b1 of queue blue" in world.condition(name="r3")["message"]
    end(world, "r1")
    world.advance(1)
    assert running(world) == {"r2", "b1"}


def test_an_elastic_gang_gets_as_many_members_as_the_quota_bears(world: World) -> None:
    world.queue("red", gpus=3)
    world.group("a", queue="red", minMember=2)
    for number in range(5):
        world.pod(f"a-{number}", group="a")
    world.advance(1)
    assert set(world.bound()) == {"a-0", "a-1", "a-2"}
    assert world.condition(name="a")["message"].startswith(
        "2 or more members were bound; queue red: nvidia.com/gpu"
    )
    world.delete(pod_path("a-1"))
    world.advance(1)
    assert set(world.bound()) == {"a-0", "a-2", "a-3"}


def product(model: str) -> JSON:
    return {vocabulary.PRODUCT_LABEL: f"NVIDIA-{model}-SXM4-80GB"}


def test_places_that_are_just_being_recorded_count_already(world: World) -> None:
    """Late members of two groups ask at one time, and recording takes a while."""
    world.queue("red", gpus=3)
    gang(world, "a", pods=1)
    gang(world, "b", pods=1)
    send = world.api.send

    async def slowly(write: Write) -> Reply:
        if write.method == "POST":
            await world.clock.sleep_until(world.clock.now() + 0.1)
        return await send(write)

    world.api.send = slowly  # type: ignore[method-assign]
    for name in ("a", "b"):
        world.pod(f"{name}-1", group=name)
    world.advance(2)
    assert len(world.bound()) == 3


def test_gpus_of_a_model_have_a_quota_of_their_own(world: World) -> None:
    world.node("node-2", gpus=2)
    for node, model in (("node-1", "H100"), ("node-2", "A100")):
        world.api.patch(node_path(node), {"metadata": {"labels": product(model)}})
    world.queue("red", gpus=8, H100=2)
    gang(world, "a", nodeSelector=product("H100"))
    gang(world, "b", nodeSelector=product("H100"))
    gang(world, "c", nodeSelector=product("A100"))
    assert running(world) == {"a", "c"}
    assert "H100: needs 2, 0 left of 2" in world.condition(name="b")["message"]


def test_who_may_get_any_model_counts_for_each_until_it_is_known_which_one_it_got(world: World) -> None:
    world.api.patch("/api/v1/nodes/node-1", {"metadata": {"labels": product("A100")}})
    world.queue("red", gpus=8, H100=2)
    gang(world, "a", pods=3)
    gang(world, "b")
    gang(world, "c")
    assert running(world) == {"b", "c"}
    assert "H100: needs 3, 2 left of 2" in world.condition(name="a")["message"]


def test_who_waits_for_quota_of_a_model_looks_again_when_it_turns_out_that_others_have_another(
    world: World,
) -> None:
    world.queue("red", gpus=8, H100=2)
    world.group("a", queue="red", minMember=1)
    for number in range(3):
        world.pod(f"a-{number}", group="a")
    world.advance(1)
    assert set(world.bound()) == {"a-0", "a-1"}
    world.api.patch("/api/v1/nodes/node-1", {"metadata": {"labels": product("A100")}})
    gang(world, "b")
    world.advance(1)
    assert set(world.bound()) == {"a-0", "a-1", "a-2", "b-0", "b-1"}


def test_a_queue_tells_what_is_used_and_who_waits(world: World) -> None:
    world.queue("red", gpus=3)
    gang(world, "a")
    gang(world, "b")
    assert used(world) == {"used": {vocabulary.GPU: "2"}, "admitted": 1, "pending": 1}
    end(world, "a")
    world.advance(2)
    assert used(world) == {"used": {vocabulary.GPU: "2"}, "admitted": 1, "pending": 0}


def test_while_nothing_changes_nothing_is_written(world: World) -> None:
    world.queue("red", gpus=4)
    for name in ("a", "b", "c", "d"):
        gang(world, name)
    world.advance(5)
    written = len(world.api.writes)
    world.advance(120)
    assert len(world.api.writes) == written


def test_a_start_is_as_much_work_in_a_long_line_as_in_a_short_one(world: World) -> None:
    world.queue("red", gpus=1)
    for number in range(18):
        gang(world, f"g{number:02}", pods=1)
    world.advance(5)
    work = []
    for _ in range(8):
        world.api.writes.clear()
        before = world.operator.tally.reconciles
        end(world, *running(world))
        world.advance(1)
        written = [write for write in world.api.writes if not write.path.startswith(queues.PATH)]
        work.append((world.operator.tally.reconciles - before, len(written)))
    assert len(set(work)) == 1, work


NEVER: dict[str, JSON] = {
    "too large": {"gpus": 9},
    "where no node is": {"nodeSelector": {"rack": "none"}},
}


@pytest.mark.parametrize("kind", NEVER)
def test_a_start_is_as_much_work_beside_many_groups_that_cannot_start_as_beside_few(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    judged, admits, by_counts = list[str](), queues.admits, world.answer
    nowhere = Rejection("node-1", Reason.NODE_AFFINITY_MISMATCH, "")

    def judging(queue: Queue, requests: Amounts) -> Rejection | None:
        judged.append(queue.name)
        return admits(queue, requests)

    def answer(request: PlanRequest) -> PlanAnswer:
        stuck = request.group.startswith("never") and kind == "where no node is"
        return Unplaceable(f"{request.group}-0", (nowhere,)) if stuck else by_counts(request)

    def work() -> tuple[int, int]:
        judged.clear()
        before = world.operator.tally.reconciles
        for name in ("a", "b"):
            gang(world, name, pods=2)
            world.advance(1)
        end(world, "a")
        end(world, "b")
        world.advance(1)
        return len(judged), world.operator.tally.reconciles - before

    monkeypatch.setattr(queues, "admits", judging)
    world.answer = answer
    world.queue("red", gpus=8)
    world.advance(5)
    needed = []
    for count in (50, 150):
        for number in range(count):
            name = f"never-{count + number}"
            world.group(name, queue="red", minMember=1)
            world.pod(f"{name}-0", group=name, **NEVER[kind])
        world.advance(1)
        needed.append(work())
    assert needed[1] == needed[0]
    assert needed[0] < (80, 30)


def test_a_group_whose_client_passes_nothing_on_has_the_queue_of_its_pods(world: World) -> None:
    world.queue("red", gpus=1)
    world.group("a", minMember=1)
    for number in range(2):
        world.pod(f"a-{number}", group="a", labels={vocabulary.QUEUE: "red"})
    world.advance(1)
    assert set(world.bound()) == {"a-0"}


def test_pods_that_outlive_their_group_count_on_if_they_name_the_queue(world: World) -> None:
    world.queue("red", gpus=2)
    gang(world, "a", labels={vocabulary.QUEUE: "red"})
    world.delete(group_path("a"))
    gang(world, "b")
    assert running(world) == {"a"}
    assert world.condition(name="b")["reason"] == "QuotaExceeded"


def test_a_pod_that_kueue_holds_is_left_alone_until_kueue_lets_it_go(world: World) -> None:
    """Kueue above us: its gate beside ours."""
    world.queue("red", gpus=2)
    world.group("a", queue="red", minMember=1)
    world.pod("a-0", group="a", gates=("kueue.x-k8s.io/admission",))
    world.advance(1)
    assert world.gates("a-0") == ["kueue.x-k8s.io/admission", vocabulary.GANG_GATE]
    assert "1 more held by scheduling gates of others" in world.condition(name="a")["message"]
    world.api.patch(pod_path("a-0"), {"spec": {"schedulingGates": [{"name": vocabulary.GANG_GATE}]}})
    world.advance(1)
    assert running(world) == {"a"}
