"""Of many that their queue refused those look again for whom there is quota, a few at a time, and all in the end."""

import pytest

from gpuyard import vocabulary
from gpuyard.groups.queues import Queue
from gpuyard_operator.deciding.view import View
from gpuyard_operator.queues import workloads
from gpuyard_operator.queues.overtaken import Overtaken
from gpuyard_operator.queues.queueing import LOOK
from gpuyard_operator.queues.workloads import About, Workload


class Crowd:
    """So many groups of each size that were refused; `left` is what there is for one of them, `judged` who was."""

    def __init__(self, each: int, sizes: tuple[int, ...] = (2, 5)) -> None:
        self.left, self.judged = 0, list[Workload]()
        self.overtaken = Overtaken(self._admits)
        self.groups = [group(size, number) for number in reversed(range(each)) for size in sizes]
        for found in self.groups:
            self.overtaken.refuse(found)

    def _admits(self, found: Workload) -> bool:
        self.judged.append(found)
        return found.least["gpu"] <= self.left


def group(size: int, number: int) -> Workload:
    key = ("default", f"{size}-{number:04}")
    return Workload(key, "red", (0, number, key), {}, (("uid", {"gpu": size}),))


def held_back(name: str, memory: str) -> Workload | None:
    """A group of one pod with a GPU, in a queue with a quota of GPUs."""
    about = About(lambda _: Queue("red", {vocabulary.GPU: 4}), lambda _: None)
    metadata = {"name": name, "uid": name, "namespace": "default"}
    amounts = {vocabulary.GPU: "1", "memory": memory}
    spec = {
        "containers": [{"name": "main", "resources": {"limits": amounts}}],
        "schedulingGates": [{"name": vocabulary.GANG_GATE}],
    }
    labels = {vocabulary.POD_GROUP: name}
    pod = {"metadata": {**metadata, "labels": labels}, "spec": spec, "status": {"phase": "Pending"}}
    group = {"metadata": {**metadata, "annotations": {vocabulary.QUEUE: "red"}}, "spec": {"minMember": 1}}
    return workloads.read(("default", name), View(group, (pod,)), about, 0.0)


@pytest.mark.parametrize("each", [1, 100])
def test_alike_ones_are_judged_as_one(each: int) -> None:
    crowd = Crowd(each)
    assert crowd.overtaken.wake() == set()
    assert len(crowd.judged) == 2


def test_groups_that_differ_in_what_has_no_quota_are_alike() -> None:
    judged = list[Workload]()
    overtaken = Overtaken(lambda found: judged.append(found) is not None)
    for number in range(20):
        found = held_back(f"group-{number}", f"{number + 1}Gi")
        assert found is not None
        overtaken.refuse(found)
    overtaken.wake()
    assert [found.least for found in judged] == [{vocabulary.GPU: 1}]


def test_the_first_of_those_look_again_for_whom_there_is_quota() -> None:
    crowd = Crowd(100)
    crowd.left = 2
    assert crowd.overtaken.wake() == {("default", f"2-{number:04}") for number in range(LOOK)}
    assert crowd.overtaken.wake() == set(), "before one of these has decided"


def test_one_that_takes_no_places_lets_the_next_one_look_until_all_have() -> None:
    crowd = Crowd(3 * LOOK)
    crowd.left = 5
    woken = [*crowd.overtaken.wake()]
    for key in woken:
        woken += crowd.overtaken.pass_on(key)
    assert sorted(woken) == sorted(found.key for found in crowd.groups)


def test_one_that_has_changed_is_out_of_it() -> None:
    crowd = Crowd(LOOK + 1, (2,))
    crowd.left = 2
    *woken, last = sorted(crowd.groups, key=lambda found: found.rank)
    crowd.overtaken.wake()
    crowd.overtaken.drop(woken[0])
    assert crowd.overtaken.pass_on(woken[0].key) == set()
    assert crowd.overtaken.wake() == {last.key}
