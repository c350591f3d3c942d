"""What holds for every pod, node and order of events."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware.inventory import Sharing, SharingMode
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.placement import place
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import (
    GPU_RESOURCE,
    ONE_G,
    SHARED,
    cluster,
    container,
    gpus,
    judged,
    node,
    pod,
    request,
    split,
)

TWO_G = "nvidia.com/mig-2g.10gb"


NODES = (
    node("whole", gpus(4, node="whole", halves=True)),
    node("sliced", gpus(2, node="sliced"), sharing=Sharing(SharingMode.TIME_SLICING, 3, renamed=True)),
    node("mig", [split(gpu, "1g.5gb", "1g.5gb", "2g.10gb") for gpu in gpus(2, node="mig")]),
)
LIMITS = st.dictionaries(st.sampled_from([GPU_RESOURCE, SHARED, ONE_G, TWO_G]), st.integers(0, 3), max_size=2)
INITS = st.lists(st.tuples(LIMITS, st.booleans()), max_size=2)


def asking(name: str, limits: dict[str, int], inits: list[tuple[dict[str, int], bool]]) -> JSON:
    written = [
        container(f"init-{i}", found, **({"restartPolicy": "Always"} if sidecar else {}))
        for i, (found, sidecar) in enumerate(inits)
    ]
    return pod(name, limits, initContainers=written)


PODS = st.lists(st.tuples(LIMITS, INITS), max_size=5).map(
    lambda found: [asking(f"pod-{i}", *parts) for i, parts in enumerate(found)]
)


def assert_one_owner(found: Cluster, live: list[Placement]) -> None:
    for known in found.nodes.values():
        here = [placement for placement in live if placement.node == known.name]
        assert known.owners == {identity: placement.uid for placement in here for identity in placement.ids}
        assert not known.contested
        for one, other in combinations(known.owned(), 2):
            assert not one.overlaps(other)


@settings(deadline=None, max_examples=100)
@given(pods=PODS, data=st.data())
def test_no_interleaving_gives_one_device_two_owners(pods: list[JSON], data: st.DataObject) -> None:
    found = cluster(*NODES)
    live: list[Placement] = []
    for wanted in pods:
        if data.draw(st.booleans()) and live:
            gone = live.pop(data.draw(st.integers(0, len(live) - 1)))
            found = found.without(gone)
        placed = judged(wanted, found.nodes[data.draw(st.sampled_from([known.name for known in NODES]))])
        if isinstance(placed, Placement):
            live.append(placed)
            found = found.with_placement(placed)
        assert_one_owner(found, live)
    for placement in live:
        found = found.without(placement)
    assert found == cluster(*NODES)


@settings(deadline=None, max_examples=100)
@given(limits=LIMITS, inits=INITS, known=st.sampled_from(NODES))
def test_a_pod_holds_exactly_what_the_scheduler_books_for_it(
    limits: dict[str, int], inits: list[tuple[dict[str, int], bool]], known: Node
) -> None:
    wanted = asking("pod", limits, inits)
    allocation = place(request(wanted), known)
    if isinstance(allocation, Rejection):
        totals = request(wanted).totals
        assert any(known.left(resource) < count for resource, count in totals.items())
        return
    for want in request(wanted).wants:
        assert len(set(allocation[want.container][want.resource])) == want.count
    for resource, count in request(wanted).totals.items():
        held = {identity for found in allocation.values() for identity in found.get(resource, ())}
        assert len(held) == count
        assert held <= {device.id for device in known.free(resource)}
