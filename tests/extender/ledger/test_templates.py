"""What pods of one template have in common is read once, and says what each of them says by itself."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.pods import requests
from gpuyard.pods.fit import PodFit
from gpuyard.writes import JSON
from gpuyard_extender.ledger import pods, templates
from tests.extender.builders import gpu_pod

ODD = st.sampled_from(
    (None, "", "x", [], ["x"], {}, {"x": "1"}, {"nvidia.com/gpu": 1}, 1, 2**70, True, "\ud800")
)
AMOUNTS = st.dictionaries(
    st.sampled_from(("cpu", "memory", vocabulary.GPU, vocabulary.GPU_SHARED, "nvidia.com/mig-9g.1gb")),
    st.sampled_from(("1", "2", "1", "2", 1, True, 1.0, "500m", "-1", "many", None, 2**70)),
    max_size=2,
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from("ab"), "resources": st.fixed_dictionaries({"limits": AMOUNTS})},
    optional={"restartPolicy": st.just("Always"), "env": ODD},
)
TERMS = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": TERMS}}}
SPEC: st.SearchStrategy[JSON] = st.fixed_dictionaries(
    {"containers": st.lists(CONTAINER, min_size=1, max_size=2)},
    optional={
        "initContainers": st.lists(CONTAINER, max_size=2),
        "nodeName": st.just("node-1"),
        "nodeSelector": st.just({"zone": "a"}),
        "tolerations": st.just([{"operator": "Exists"}]),
        "affinity": st.just(AFFINITY),
        "overhead": AMOUNTS,
        "resources": st.fixed_dictionaries({"requests": AMOUNTS}),
        "schedulingGroup": ODD,
    },
)
FIELDS = ("containers", "initContainers", "nodeName", "nodeSelector", "affinity", "overhead", "resources")
FAULTS: st.SearchStrategy[JSON] = st.just({}) | st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=1)
NOTES: st.SearchStrategy[JSON] = st.fixed_dictionaries(
    {},
    optional={
        vocabulary.GPU_MODEL: st.sampled_from(("A100", "A100", "-", 3)),
        vocabulary.MIN_GPU_MEMORY: st.sampled_from(("10Gi", "10Gi", "much")),
        vocabulary.TOPOLOGY: st.sampled_from(("same-numa", "same-numa", "odd")),
        vocabulary.TOPOLOGY_POLICY: st.just("preferred"),
        vocabulary.GPU_MILLI: st.sampled_from(("500", 500, "1500")),
        vocabulary.GPU_MEMORY: st.just("10Gi"),
    },
)


@settings(deadline=None, max_examples=300)
@given(spec=st.builds(dict[str, Any].__or__, SPEC, FAULTS), notes=NOTES, name=st.sampled_from(("p", "q")))
def test_a_pod_asks_for_what_it_says_whatever_others_of_its_template_are_called(
    spec: JSON, notes: JSON, name: str
) -> None:
    labels = {vocabulary.POD_GROUP: f"group-{name}"}
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "labels": labels,
        "annotations": notes,
    }
    pod = {"metadata": metadata, "spec": spec}
    read = pods.read(pod)
    try:
        alone = PodFit.of(pod), requests.parse(pod)
    except (AttributeError, KeyError, TypeError, ValueError):
        assert read is None
        return
    assert read is not None
    assert (read.fit, read.request) == alone
    assert read.group == f"group-{name}" or "schedulingGroup" in spec


def test_pods_that_differ_in_name_node_and_environment_are_of_one_template() -> None:
    first, second = gpu_pod("first"), gpu_pod("second", node="node-1")
    second["spec"]["containers"][0]["env"] = [{"name": "RANK", "value": "1"}]
    assert templates.asked(first)[0].requests is templates.asked(second)[0].requests
