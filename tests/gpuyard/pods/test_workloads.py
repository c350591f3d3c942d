"""What objects would bring, and which field is wrong where they cannot be understood."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.pods import workloads
from gpuyard.writes import JSON


def templated(kind: str, **spec: object) -> JSON:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}}
    return {"kind": kind, "metadata": {"name": "web"}, "spec": {"template": template, **spec}}


@pytest.mark.parametrize(
    ("obj", "count"),
    [
        (templated("Deployment"), 1),
        (templated("Deployment", replicas=3), 3),
        (templated("StatefulSet", replicas=0), 0),
        (templated("Job", parallelism=4), 4),
        (templated("Job", parallelism=4, completions=2), 2),
        (templated("Job", completions=9), 1),
    ],
)
def test_a_controller_brings_as_many_pods_as_it_starts_at_once(obj: JSON, count: int) -> None:
    [found] = workloads.read([obj]).workloads
    assert [pod["metadata"]["name"] for pod in found.pods()] == [f"web-{i}" for i in range(count)]
    assert all(pod["metadata"]["labels"] == {"app": "web"} for pod in found.pods())


def test_a_pod_is_asked_about_as_one_that_has_no_node_yet() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "x"}, "spec": {"nodeName": "n", "a": 1}}
    [found] = workloads.read([pod]).workloads
    [made] = found.pods()
    assert (str(found), made["spec"]) == ("Pod x/p", {"a": 1})


def test_lists_are_unpacked_groups_and_queues_kept_and_all_else_named() -> None:
    group = {"kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"minMember": 2}}
    queue = {"apiVersion": "gpuyard.io/v1alpha1", "kind": "Queue", "metadata": {"name": "q"}}
    other = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "web"}}
    found = workloads.read([{"kind": "List", "items": [group, queue, other, templated("Job")]}])
    assert [str(workload) for workload in found.workloads] == ["Job default/web"]
    assert (found.groups, found.queues) == ({("default", "g"): group}, (queue,))
    assert found.ignored == ("Queue web",)


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([7], "objects[0]: a Kubernetes object is needed"),
        ([{"kind": "Pod"}], "objects[0].metadata: an object is needed"),
        ([{"kind": "Pod", "metadata": {"name": ["x"]}, "spec": {}}], "objects[0].metadata.name: a name"),
        ([{"kind": "Pod", "metadata": {"name": "x"}, "spec": []}], "objects[0].spec: an object is needed"),
        ([{"kind": "Job", "metadata": {"name": "x"}, "spec": {}}], "objects[0].spec.template: an object"),
        ([templated("Deployment", replicas="3")], "objects[0].spec.replicas: a whole number"),
        ([templated("Deployment", replicas=-1)], "objects[0].spec.replicas: a whole number"),
        ([templated("Deployment", replicas=True)], "objects[0].spec.replicas: a whole number"),
        ([templated("Deployment", replicas=10**9)], "objects: 1000000000 pods; ask about 2000 at a time"),
        ([{"kind": "List", "items": {}}], "objects[0].items: a list of objects is needed"),
        ([{"kind": "List", "items": [{"kind": "List"}]}], "objects[0].items[0].metadata"),
        ([{"kind": "Service", "metadata": {"name": "x"}}], "objects: none of them brings pods"),
    ],
)
def test_what_cannot_be_understood_is_named_by_its_field(objects: list[object], said: str) -> None:
    with pytest.raises(ValueError, match="objects") as found:
        workloads.read(objects)
    assert str(found.value).startswith(said)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["kind", "metadata", "name", "spec", "template", "replicas", "items", "namespace"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(_ANYTHING, max_size=3), st.sampled_from(["Pod", "Job", "Deployment", "PodGroup", "List"]))
def test_nothing_that_is_json_does_more_than_be_refused(objects: list[object], kind: str) -> None:
    marked = [{**obj, "kind": kind} if isinstance(obj, dict) else obj for obj in objects]
    with contextlib.suppress(ValueError):
        workloads.read(marked)
