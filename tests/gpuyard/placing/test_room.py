"""Thousandths and memory of shared GPUs: both hold, for whoever says something and for whoever does not."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.advice.explain import explain
from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard.placing import parts
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.placement import judge
from gpuyard.placing.scoring import of_nodes
from gpuyard.pods.fit import PodFit
from gpuyard.pods.limits import Limits
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE, cluster, gpus, node, pod, request, sick, split

MILLI, MEMORY = vocabulary.GPU_MILLI, vocabulary.GPU_MEMORY
MIB = 40960


def shared(count: int = 1, replicas: int = 10, name: str = "n", mode: SharingMode = SharingMode.MPS) -> Node:
    return node(name, gpus(count, node=name), sharing=Sharing(mode, replicas))


def share(name: str = "p", milli: int = 0, memory: str = "", count: int = 1, **more: str) -> JSON:
    found = pod(name, {GPU_RESOURCE: str(count)})
    said = {MILLI: str(milli) if milli else "", MEMORY: memory, **more}
    found["metadata"]["annotations"] = {key: text for key, text in said.items() if text}
    return found


def verdict(found: Node, of: JSON) -> Placement | Rejection:
    return judge(PodFit.of(of), request(of), found)


def holding(found: Node, *pods: JSON) -> Node:
    for each in pods:
        placed = verdict(found, each)
        assert isinstance(placed, Placement), placed
        found = found.taking(placed)
    return found


def on(found: Node, of: JSON) -> list[int]:
    """The indexes of the GPUs that the pod gets."""
    placed = verdict(found, of)
    assert isinstance(placed, Placement), placed
    return sorted(device.gpu for device in found.devices(GPU_RESOURCE) if device.id in placed.ids)


def refusal(found: Node, of: JSON) -> tuple[Reason, str]:
    refused = verdict(found, of)
    assert isinstance(refused, Rejection), refused
    return refused.reason, refused.detail


def left(found: Node) -> list[Limits]:
    assert found.occupancy is not None
    return list(parts.left(found.occupancy).values())


def test_shares_are_worth_what_their_pods_say_and_then_there_is_no_more() -> None:
    used = holding(shared(), share("a", 500), share("b", 250))
    assert left(used) == [Limits(250, MIB // 4)]
    assert refusal(used, share("c", 300)) == (
        Reason.SHARES_EXHAUSTED,
        "needs 300 thousandths of a GPU; GPU 0 has 250 thousandths and 10240 MiB left",
    )
    assert on(used, share("c", 250)) == [0]


@pytest.mark.parametrize(("milli", "memory"), [(100, "11Gi"), (300, "1Gi"), (0, "11Gi")])
def test_thousandths_and_memory_both_hold(milli: int, memory: str) -> None:
    used = holding(shared(), share("a", 750))
    assert refusal(used, share("c", milli, memory))[0] is Reason.SHARES_EXHAUSTED
    assert on(used, share("c", 100, "10Gi")) == [0]


def test_who_says_nothing_has_an_equal_part_and_finds_no_share_where_that_is_gone() -> None:
    used = holding(shared(), share("a", 850), share("plain"))
    assert left(used) == [Limits(50, 2048)]
    assert refusal(used, share("b")) == (
        Reason.SHARES_EXHAUSTED,
        "needs 1 share of a GPU; GPU 0 has 50 thousandths and 2048 MiB left",
    )
    assert on(used, share("c", 50)) == [0]


def test_where_no_pod_limits_its_share_all_replicas_are_given() -> None:
    full = holding(shared(replicas=3), *(share(name) for name in "abc"))
    assert refusal(full, share("d")) == (Reason.SHARES_EXHAUSTED, "needs 1 share of a GPU, 0 free of 3")
    assert refusal(full, share("d", 1))[1] == "needs 1 share of a GPU, 0 free of 3"


def test_several_plain_shares_are_counted_together() -> None:
    used = holding(shared(2, 4), share("a", 400), share("b", 400, **{vocabulary.GPU_MODEL: "A100"}))
    assert [rest.milli for rest in left(used)] == [200, 1000]
    assert on(used, share("c", count=4)) == [1, 1, 1, 1]
    assert refusal(used, share("c", count=5))[0] is Reason.SHARES_EXHAUSTED


def test_the_gpu_with_the_least_left_that_suffices_is_taken() -> None:
    used = holding(shared(3), share("a", 700), share("b", 500), share("c", 900))
    assert [rest.milli for rest in left(used)] == [300, 500, 100]
    assert [on(used, share("d", milli)) for milli in (100, 250, 400)] == [[2], [0], [1]]


def test_what_a_pod_had_is_there_again_when_it_is_gone() -> None:
    before = holding(shared(), share("a", 300))
    placed = verdict(before, share("b", 600))
    assert isinstance(placed, Placement)
    assert before.taking(placed).releasing(placed) == before


def test_more_memory_than_any_gpu_has_is_not_waited_for() -> None:
    assert refusal(shared(), share("a", memory="80Gi")) == (
        Reason.GPU_MEMORY_TOO_SMALL,
        "needs 81920 MiB of a GPU, the most that one has is 40960",
    )


def test_whole_gpus_and_instances_are_no_shares_and_are_named() -> None:
    mig = node("m", [split(gpu, "1g.5gb") for gpu in gpus(1)], mig_strategy=MigStrategy.SINGLE)
    yard = cluster(node("whole"), mig, node("none", []))
    wanted = share("a", 300)
    found = explain(PodFit.of(wanted), request(wanted), yard)
    assert [(refused.node, refused.reason) for refused in found] == [
        ("m", Reason.INVALID_REQUEST),
        ("none", Reason.NO_SUCH_RESOURCE),
        ("whole", Reason.INVALID_REQUEST),
    ]
    assert found[2].detail == (
        "gpuyard.io/gpu-milli: it limits one share, nvidia.com/gpu is none on this node; "
        "ask for one nvidia.com/gpu.shared, or leave the annotation out"
    )


def test_a_node_that_is_known_by_counts_only_is_refused_by_name() -> None:
    counted = dataclasses.replace(shared(), inventory=None)
    reason, detail = refusal(counted, share("a", memory="1Gi"))
    assert reason is Reason.NO_SUCH_RESOURCE
    assert detail.startswith("gpuyard.io/gpu-memory: the node has no annotation gpuyard.io/inventory")
    assert isinstance(verdict(counted, share("plain")), Placement)


def test_room_on_a_sick_gpu_is_told_as_such() -> None:
    one, other = gpus(2)
    ill = node("n", [one, sick(other)], sharing=Sharing(SharingMode.MPS, 10))
    assert refusal(holding(ill, share("a", 800)), share("b", 300))[0] is Reason.GPU_UNHEALTHY


def test_an_mps_client_has_the_memory_that_it_says_and_a_time_slice_all_of_it() -> None:
    wish = {vocabulary.MIN_GPU_MEMORY: "16Gi"}
    assert refusal(shared(), share("a", 200, **wish))[0] is Reason.GPU_MEMORY_TOO_SMALL
    assert on(shared(), share("a", 400, **wish)) == [0]
    assert on(shared(mode=SharingMode.TIME_SLICING), share("a", 200, **wish)) == [0]


def test_policies_see_the_thousandths() -> None:
    """By shares taken, `many` would be the fuller one."""
    many = holding(shared(name="many"), share("a", 50), share("b", 50), share("c", 50))
    full = holding(shared(name="full"), share("d", 700))
    found = of_nodes(request(share("p", 250)), {"cpu": 1000}, [many, full])
    assert (found.milli.tolist(), found.count.tolist()) == ([250, 250], [1, 1])
    assert found.gpus.tolist() == [[850], [300]]
    for policy, best in {"pack": 1, "spread": 0, "fgd": 1, "bestfit": 1}.items():
        scores = POLICIES[policy](found)
        scores = scores if scores.ndim == 1 else scores.max(axis=1)
        assert scores[best] >= scores[1 - best], policy


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0, 1, 50, 333, 500]), st.sampled_from(["", "", "1Mi", "9Gi", "20Gi"])),
        max_size=14,
    ),
    st.integers(2, 12),
    st.lists(st.integers(0, 13), max_size=4),
)
def test_no_gpu_is_ever_given_more_than_once_and_nothing_fits_that_was_refused(
    asked: list[tuple[int, str]], replicas: int, ends: list[int]
) -> None:
    found, placed = shared(2, replicas), dict[int, tuple[JSON, Placement]]()
    for number, (milli, memory) in enumerate(asked):
        wanted = share(f"p{number}", milli, memory)
        answer = verdict(found, wanted)
        if isinstance(answer, Placement):
            found, placed[number] = found.taking(answer), (wanted, answer)
        if number in ends and number in placed:
            found = found.releasing(placed.pop(number)[1])
    by_gpu: dict[int, list[Limits]] = {0: [], 1: []}
    devices = {device.id: device.gpu for device in found.devices(GPU_RESOURCE)}
    for wanted, answer in placed.values():
        own = request(wanted).wishes.limits or Limits(1000 // replicas, MIB // replicas)
        by_gpu[devices[answer.ids[0]]].append(own.on(gpus(1)[0]))
    for index, used in by_gpu.items():
        total = sum(used, Limits())
        assert total.within(Limits(1000, MIB))
        assert left(found)[index] == Limits(1000, MIB) - total
