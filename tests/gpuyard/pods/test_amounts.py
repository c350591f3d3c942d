from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.pods import amounts
from gpuyard.pods.amounts import ContainerKind, peak, requests_of
from gpuyard.writes import JSON
from tests.gpuyard.builders import container, pod

KINDS = st.sampled_from(list(ContainerKind))
AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 9))


def written(kind: ContainerKind, number: int, amounts: dict[str, int]) -> JSON:
    more = {"restartPolicy": "Always"} if kind is ContainerKind.SIDECAR else {}
    return container(f"c{number}", {name: str(amount) for name, amount in amounts.items()}, **more)


def running_together(
    inits: list[tuple[ContainerKind, dict[str, int]]], apps: list[dict[str, int]]
) -> list[list[dict[str, int]]]:
    """Every moment in a pod's life, as the list of what runs then: Kubernetes' rule, read literally."""
    moments: list[list[dict[str, int]]] = []
    sidecars: list[dict[str, int]] = []
    for kind, asked in inits:
        moments.append([*sidecars, asked])
        if kind is ContainerKind.SIDECAR:
            sidecars.append(asked)
    return [*moments, [*sidecars, *apps]]


@settings(deadline=None, max_examples=100)
@given(
    inits=st.lists(st.tuples(KINDS.filter(lambda kind: kind is not ContainerKind.APP), AMOUNTS), max_size=4),
    apps=st.lists(AMOUNTS, min_size=1, max_size=3),
    overhead=AMOUNTS,
)
def test_a_pod_books_the_most_that_runs_at_one_time_plus_overhead(
    inits: list[tuple[ContainerKind, dict[str, int]]], apps: list[dict[str, int]], overhead: dict[str, int]
) -> None:
    found = pod(
        initContainers=[written(kind, i, asked) for i, (kind, asked) in enumerate(inits)],
        containers=[written(ContainerKind.APP, i, asked) for i, asked in enumerate(apps)],
        overhead={name: str(amount) for name, amount in overhead.items()},
    )
    expected = {"pods": 1}
    for name in ("cpu", "memory", "nvidia.com/gpu"):
        most = max(sum(asked.get(name, 0) for asked in moment) for moment in running_together(inits, apps))
        amount = (most + overhead.get(name, 0)) * (1000 if name == "cpu" else 1)
        expected |= {name: amount} if amount else {}
    assert requests_of(found) == expected


def test_a_limit_without_a_request_is_the_request_and_a_request_wins() -> None:
    both = {"name": "a", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}
    assert requests_of(pod(containers=[both])) == {"cpu": 500, "memory": 2**30, "pods": 1}


def test_containers_are_added_up_before_rounding() -> None:
    half = {"cpu": "0.5m", "memory": "1"}
    assert requests_of(pod(containers=[container("a", half), container("b", half)]))["cpu"] == 1


def test_requests_of_the_pod_replace_those_of_its_containers() -> None:
    found = pod(limits={"cpu": "1", "nvidia.com/gpu": "2"}, resources={"requests": {"cpu": "3"}})
    assert requests_of(found) == {"cpu": 3000, "nvidia.com/gpu": 2, "pods": 1}


def test_amounts_that_cannot_be_read_count_as_nothing() -> None:
    assert amounts.read({"cpu": "many", "memory": "-1", "pods": None, "nvidia.com/gpu": "8k"}) == {
        "cpu": 0,
        "memory": 0,
        "pods": 0,
        "nvidia.com/gpu": 8000,
    }
    assert amounts.read(None) == {}
    assert requests_of({}) == {"pods": 1}


def test_peak_of_sidecars_grows_along_the_containers() -> None:
    steps = [
        (ContainerKind.SIDECAR, {"gpu": 1}),
        (ContainerKind.INIT, {"gpu": 2}),
        (ContainerKind.APP, {"gpu": 1}),
    ]
    assert peak(steps) == {"gpu": 3}
