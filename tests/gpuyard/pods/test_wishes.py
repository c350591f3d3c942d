import pytest

from gpuyard import vocabulary
from gpuyard.pods.wishes import NONE, Topology, Wishes, parse
from tests.gpuyard.builders import gpus


def test_a_pod_that_says_nothing_wishes_nothing() -> None:
    assert parse({}) == parse({"example.com/note": "x"}) == NONE
    assert NONE.likes("anything")
    assert NONE.met_by(gpus(8, halves=True))


@pytest.mark.parametrize(
    "text", ["A100", "a100", "H100, A100-SXM4", "NVIDIA A100-SXM4-40GB", "NVIDIA-A100-SXM4-40GB"]
)
def test_a_model_is_a_product_or_whole_words_of_one(text: str) -> None:
    assert parse({vocabulary.GPU_MODEL: text}).likes("NVIDIA-A100-SXM4-40GB")


@pytest.mark.parametrize("text", ["A10", "100", "A100-40GB", "A100-PCIE", "A100-SXM4-80GB"])
def test_other_models_are_not_liked(text: str) -> None:
    assert not parse({vocabulary.GPU_MODEL: text}).likes("NVIDIA-A100-SXM4-40GB")


@pytest.mark.parametrize(("text", "mib"), [("40Gi", 40960), ("80G", 76294), ("1Mi", 1), ("1048577", 2)])
def test_memory_is_a_quantity_rounded_up_to_mib(text: str, mib: int) -> None:
    assert parse({vocabulary.MIN_GPU_MEMORY: text}).memory_mib == mib


def test_a_topology_is_required_unless_it_says_that_it_is_preferred() -> None:
    wish = {vocabulary.TOPOLOGY: "same-numa"}
    assert parse(wish) == Wishes(topology=Topology.SAME_NUMA)
    assert parse({**wish, vocabulary.TOPOLOGY_POLICY: "required"}).required
    assert not parse({**wish, vocabulary.TOPOLOGY_POLICY: "preferred"}).required


@pytest.mark.parametrize(
    ("annotations", "named", "remedy"),
    [
        ({vocabulary.GPU_MODEL: ""}, vocabulary.GPU_MODEL, "write one such as A100"),
        ({vocabulary.GPU_MODEL: "A100,"}, vocabulary.GPU_MODEL, "write one such as A100"),
        ({vocabulary.MIN_GPU_MEMORY: "much"}, vocabulary.MIN_GPU_MEMORY, "such as 40Gi"),
        ({vocabulary.MIN_GPU_MEMORY: "-1Gi"}, vocabulary.MIN_GPU_MEMORY, "write a unit"),
        ({vocabulary.MIN_GPU_MEMORY: "40960"}, vocabulary.MIN_GPU_MEMORY, "write a unit"),
        ({vocabulary.TOPOLOGY: "same-rack"}, vocabulary.TOPOLOGY, "same-numa, same-switch, nvlink"),
        ({vocabulary.TOPOLOGY_POLICY: "preferred"}, vocabulary.TOPOLOGY_POLICY, "add it"),
        (
            {vocabulary.TOPOLOGY: "nvlink", vocabulary.TOPOLOGY_POLICY: "maybe"},
            vocabulary.TOPOLOGY_POLICY,
            "required or preferred",
        ),
        (
            {vocabulary.TOPOLOGY: "best-effort", vocabulary.TOPOLOGY_POLICY: "required"},
            vocabulary.TOPOLOGY_POLICY,
            "name a domain",
        ),
    ],
)
def test_a_wish_that_cannot_be_understood_names_the_annotation(
    annotations: dict[str, str], named: str, remedy: str
) -> None:
    with pytest.raises(ValueError, match=f"^{named}: ") as refused:
        parse(annotations)
    assert remedy in str(refused.value)


def test_gpus_lie_together_by_numa_node_switch_or_nvlink() -> None:
    halves, linked = gpus(4, halves=True), gpus(4, halves=True, nvlink=True)
    for topology in (Topology.SAME_NUMA, Topology.SAME_SWITCH):
        assert Wishes(topology=topology).met_by(halves[:2])
        assert not Wishes(topology=topology).met_by(halves[1:3])
    assert Wishes(topology=Topology.NVLINK).met_by(linked)
    assert Wishes(topology=Topology.NVLINK).met_by(halves[:1])
    assert not Wishes(topology=Topology.NVLINK).met_by(halves[:2])
